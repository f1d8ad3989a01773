"""What it costs to assess texts that are written to make it costly, as long as a request may be.

    hard_texts.py --binary skerry                                all shapes at 4 MB: processor time, memory, level
    hard_texts.py --binary skerry --size 65536 --language shell  smaller ones
    hard_texts.py --binary skerry -f FILE ...                    real files

A line for each: seconds, megabytes, level, language, name; the dearest first. Exit code 1 when one took more than
--seconds or --megabytes.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

MIB = 1 << 20
SIZE = 4 * MIB
KILLED_AFTER = 120  # seconds of processor time


def around(size, before, middle, behind):
    """As deep as fits."""
    count = max(1, (size - len(middle)) // (len(before) + len(behind)))
    return before * count + middle + behind * count


def repeat(size, piece, end=""):
    return piece * (size // len(piece)) + end


def numbered(size, line):
    """What `line` makes of 0, 1, 2 …; the length of what has been made so far is looked at now and then."""
    parts = []
    length = 0
    number = 0
    while length < size - 64:
        part = line(number)
        parts.append(part)
        length += len(part)
        number += 1
    return "".join(parts)[:size]


def indented(size, line):
    depth = 1
    while (depth + 1) * (depth + 2 * len(line)) // 2 < size:
        depth += 1
    return "".join(" " * at + line for at in range(depth)) + " " * depth + "pass\n"


def shell_quoted(size, word):
    """`word` in `word` in `word`, each level in quotes of its own."""
    text = "ls"
    while True:
        longer = word + " '" + text.replace("'", "'\\''") + "'"
        if len(longer) > size:
            return text
        text = longer


PAIRS = {
    "python": [("(", ")"), ("[", "]"), ("{", "}"), ("{a:", "}"), ("f(", ")"), ("a[", "]"), ("(a,", ")"), ("[a for a in ", "]"),
               ("lambda:", ""), ("-", ""), ("not ", ""), ("a if b else ", ""), ("f'{", "}'"), ("f\"{", "}\""), ("f'{x:{", "}}'"),
               ("await ", ""), ("a=", ""), ("@a\n", ""), ("*", ""), ("x:=", ""), ("(x:=", ")"), ("(yield ", ")"), ("a.b(", ")"),
               ("getattr(", ",'a')"), ("eval('", "')"), ("str(", ")"), ("(\"a\"+", ")"), ("'%s'%(", ",)")],
    "javascript": [("(", ")"), ("[", "]"), ("{", "}"), ("a={a:", "}"), ("f(", ")"), ("a[", "]"), ("()=>", ""), ("`${", "}`"), ("!", ""),
                   ("new ", ""), ("a?b:", ""), ("function(){", "}"), ("(function(){", "})()"), ("async()=>{await ", "}"), ("<a>", "</a>"),
                   ("{<a>", "</a>}"), ("class A{a(){", "}}"), ("a=", ""), ("[a=", "]"), ("({a:", "})"), ("let {a:", "}"), ("if(a)", ""), ("a=>", ""),
                   ("for(;;)", ""), ("try{", "}catch(e){}"), ("switch(a){case ", ":}"), ("a:", ""), ("typeof ", ""), ("import(", ")"),
                   ("require(", ")"), ("(\"a\"+", ")"), ("a<b>(", ")"), ("/*", "*/"), ("label:{", "}"), ("a?.[", "]")],
    "shell": [("$(", ")"), ("echo $(", ")"), ("\"$(", ")\""), ("echo \"$(", ")\""), ("`", "`"), ("${a:-", "}"), ("\"${a:-", "}\""), ("$((", "))"),
              ("((", "))"), ("(", ")"), ("( ", " )"), ("{ ", "; }"), ("<(", ")"), ("cat <(", ")"), ("if a; then ", "; fi"), ("while a; do ", "; done"),
              ("for a in ", "; do a; done"), ("case a in a) ", ";; esac"), ("f() { ", "; }"), ("[[ ", " ]]"), ("! ", ""), ("sudo ", ""),
              ("time ", ""), ("a=$(", ")"), ("a=(", ")"), ("${a[", "]}"), ("a[", "]=1"), ("eval ", ""), ("xargs ", ""), ("env a=b ", ""),
              ("find . -exec ", " \\;"), ("${a/", "/b}"), ("${!", "}"), ("$[", "]"), ("echo $(( $(", ") ))"), (">(", ")"), ("coproc ", ""),
              ("function f { ", "; }"), ("trap ", " EXIT"), ("alias a=", ""), ("bash -c ", ""), ("a | ", ""), ("a && ", ""), ("{a,", "}")],
}
MIDDLES = {"python": "eval(x)", "javascript": "eval(x)", "shell": "rm -rf /"}

CHAINS = {
    "python": ["\"a\"+", "a+", "a.", "a().", "a[0]", ".b", "a,", "a;", "a\n", "x=a\n", "x=x+'a'\n", "x+='a'\n", "'a' ", "f'a{b}' ", "#a\n", "\\\n", "'''a'''\n",
               "import a\n", "from os import *\n", "from a import b as c\n", "global a\n", "del a\n", "class a:pass\n", "def a():pass\n", "def a(b,c=1):d\n",
               "if a:b\n", "try:a\nexcept b as c:d\n", "with a as b:c\n", "for a in b:c\n", "for a in 'x','y':c\n", "a if b else ", "a or ", "a<", "a**", "print a\n",
               "exec('a')\n", "os.system('ls')\n", "eval('1')\n", "x=eval\n", "a=b=", "lambda a:b\n", "[a for b in c]\n", "1,", "0x1,", "{", "}", "(", ")", "[", "]", "\"", "'",
               "\"\"\"", "f'", "f'{", "`a`\n", "\0", "\xe9", "\xe9\n", "\u1d4a ", "a\u0301\n", "@", "=", "a=b,c\n", "a,b=c,d\n", "a:b\n", "async ", "await a\n", "yield\n",
               "match a:\n case b:c\n", "getattr(a,'b')\n", "a['b']\n", "globals()['a']\n", "'a'.join(['b'])\n", "'{}'.format(a)\n", "chr(97)+", "'a'%b\n", "x=getattr(os,x)\n",
               "subprocess.run(['a'])\n", "subprocess.run('a b',shell=True)\n", "open('a')\n", "__import__('os')\n", "if a:\n b\n", "if a:\n\tb\nelse:\n\tc\n"],
    "javascript": ["\"a\"+", "a+", "a.", "a().", "a[0]", ".b", "a,", "a;", "a\n", "x=a\n", "x=x+'a';", "x+='a';", "`a${b}`;", "//a\n", "/*a*/", "'a';", "import a from 'b'\n",
                   "import {a} from 'b'\n", "export {a}\n", "function a(){}\n", "function a(b,c=1){d}\n", "var a=b;", "let a=b;", "const {a}=b;", "const [a,b]=c;", "if(a)b;", "if(a)b;else ",
                   "a?b:", "a||", "a&&", "a??", "a=b=", "a=>b;", "(a)=>{b};", "1,", "{", "}", "(", ")", "[", "]", "\"", "'", "`", "${", "/", "/a/;", "a=/", "<a>", "<a/>", "</a>", "<a b=c>", "<",
                   ">", "a<b>", "\0", "\xe9", "\xe9;", "\\u0061;", "#a", "@a\n", "=", "a:b,", "async ", "await a;", "yield ", "new a;", "class a{}\n", "class a{b(){}}\n", "case a:", "a!.",
                   "a as b;", "<a>b;", "let a:b;", "type a=b;", "enum a{b}\n", "this.a;", "this;", "eval('1');", "x=eval;", "require('a');", "require('child_process');", "exec('ls');",
                   "execSync('ls');", "spawn('a',['b']);", "['a'].join();", "'a'.concat('b');", "String.fromCharCode(97)+", "a['b'];", "globalThis['a'];", "Function('a')();", "atob('YQ==');",
                   "{a:1,b:2};", "({a:1,b:2});", "({a(){}});", "[1,2,3];", "for(a of b)c;", "for(let a of ['x','y'])c;", "switch(a){case 1:b}\n", "try{a}catch(b){c}\n", "(a,\"/", "let [", "({a,"],
    "shell": ["ls\n", "ls;", "ls|", "ls&&", "ls&", "a=b\n", "a=$a\n", "a=$a$a\n", "a+=b\n", "a=(b)\n", "a[0]=b\n", "$a\n", "$a ", "${a}", "${a:-b}", "$(a)", "`a`", "\"$a\"", "'a'", "\"a\"", "a ", "#a\n",
              "\\\n", "{a,b}", "{a,b} ", "<a ", ">a ", "cat <<A\nb\nA\n", "cat <<A <<B\n", "cat <<A\n", "<<A ", "<<<a ", "a() { b; }\n", "a() { a|a& }\n", "f $@\n", "run() { \"$@\"; }\n", "alias a=b\n",
              "if a; then b; fi\n", "for a in b; do c; done\n", "for a in b c d; do $a; done\n", "case a in b) c;; esac\n", "[[ a == b ]]\n", "((a))\n", "$((a))", "$[a]", "{", "}", "(", ")", "\"", "'", "`",
              "$(", "${", "$((", "((", "[[", "<(", "<<", "<<<", ">", "|", "&", ";", "!", "$", "\\", "\0", "\xe9", "$'\\x61'", "$'a", "=", "[", "]", "a[", "~", "~a ", "*", "?", "sudo ", "xargs ", "env ", "eval ",
              "eval 'ls'\n", "bash -c 'ls'\n", "bash -c \"$a\"\n", "echo a|sh\n", "echo a>b\n", "curl a|sh\n", "echo a >>b\n", "sh b\n", "cd a\n", "cd a;", "trap 'ls' 0\n", "find . -exec ls \\;\n",
              "python3 -c 'a'\n", "node -e 'a'\n", "awk '{a}'\n", "sed s/a/b/\n", "git a\n", "read a\n", "echo a|read b\n", "set a b\n", "set -- $a\n", "printf -v a b\n", "printf %s%s a b\n", "exec 3<a\n",
              "a <&3\n", "declare a=b\n", "local a=$1\n", "export a\n", "unset a\n", "if ", "then ", "fi ", "do ", "done ", "case ", "esac ", "for ", "while ", "function ", "echo {a,b}{c,d}{e,f}\n",
              "echo $a$b$c$d\n", "cat <<A | ", "[[ a == ", "<<\"$a", "a=`", "$a=b\n", "a=\"$b$c\"\n", "rm -rf /\n", "mkfs\n"],
}


def shapes(language, size):
    """Name and text of each."""
    middle = MIDDLES[language]
    for before, behind in PAIRS[language]:
        yield f"closed {before!r}", around(size, before, middle, behind)
        yield f"open {before!r}", repeat(size - len(middle), before, middle)
        half = around(size // 2, before, middle, behind)
        yield f"shallow {before!r}", repeat(size, around(200, before, middle, behind) + "\n")
        yield f"cut {before!r}", half[:len(half) * 3 // 4] + half[len(half) // 4:]
    for piece in CHAINS[language]:
        yield f"chain {piece!r}", repeat(size, piece)
        if len(piece) <= 4:
            yield f"chain {piece!r} quoted", repeat(size, piece, "\n\"'`)")
    yield from globals()[language + "_shapes"](size)


def python_shapes(size):
    yield "blocks", indented(size, "if a:\n")
    yield "functions in functions", indented(size, "def f():\n")
    yield "classes in classes", indented(size, "class f:\n")
    yield "names", numbered(size, lambda n: f"a{n}=a{n + 1}\n")
    yield "names backwards", numbered(size, lambda n: f"a{n + 1}=a{n}\n")
    yield "names of eval", "x0=eval\n" + numbered(size, lambda n: f"x{n + 1}=x{n}\n")
    yield "later names of eval", numbered(size - 99, lambda n: f"x{n}=x{n + 1}\n") + "\n" + "".join(f"x{n}=eval\n" for n in range(5))
    yield "imports", numbered(size, lambda n: f"import a{n}\n")
    yield "functions", numbered(size, lambda n: f"def f{n}(a):\n return f{n + 1}(a)\n")
    yield "star imports", "from os import *\nfrom sys import *\nfrom subprocess import *\n" + numbered(size - 99, lambda n: f"a{n}\n")
    yield "names in depth", "".join(" " * at + "def f():\n" for at in range(150)) + numbered(size - 13000, lambda n: " " * 150 + f"a{n % 100}\n")
    yield "bound names in depth", "".join(f"a{n}=eval\n" for n in range(100)) + "".join(
        " " * at + "def f():\n" for at in range(150)) + numbered(size - 14000, lambda n: " " * 150 + f"a{n % 100}\n")
    yield "lambdas in depth", "a=1\n" + "lambda:" * 149 + "(" + repeat(size - 2000, "a,") + ")"
    yield "a name in very many calls", "a=eval\n" + repeat(size, "a(a)\n")
    yield "a call with many words", "f(" + repeat(size, "a,") + ")"
    yield "a call with many names", "f(" + numbered(size, lambda n: f"a{n}=1,") + ")"
    yield "many words of many kinds", "import os\nx=(" + repeat(size, "os.system or ") + "1)"
    yield "a list of texts", "x=[" + repeat(size, "'a',") + "]"
    yield "a list of commands", "import subprocess\nsubprocess.run([" + repeat(size, "'a',") + "])"
    yield "joined", "x=''.join([" + repeat(200, "'a',") + "])\n" + repeat(size, "y=x.join([x,x,x,x])\n")
    yield "texts of texts", "x='a'*1\nx='" + "a" * 4000 + "'\n" + repeat(size - 9000, "f'{x}'\n")
    yield "long texts", "x='" + "a" * 4000 + "'\n" + repeat(size - 9000, "x+x;")
    yield "code from a name", "x='" + "a\\n" * 1300 + "'\n" + repeat(size - 9000, "exec(x)\n")
    yield "code from parts", "x='" + "a;" * 1000 + "'\n" + repeat(size - 9000, "exec(x+'1')\n")
    yield "commands from parts", "import os\nx='" + "a;" * 1000 + "'\n" + repeat(size - 9000, "os.system(x+'1')\n")
    yield "code from a hard text", "x='" + "(" * 2000 + "'\n" + repeat(size - 9000, "exec(x+'1')\n")
    yield "code in code", "exec('''" + repeat(size - 40, "exec(\"a\")\n") + "''')"
    yield "hard code in code", "exec('''" + repeat(size - 40, "{a[") + "''')"
    yield "hard shell in code", "import os\nos.system('''" + repeat(size - 80, "$(") + "''')"
    yield "many hard shells", "import os\n" + repeat(size, "os.system('''" + "$(" * 500 + "''')\n")
    yield "many hard shells closed", "import os\n" + repeat(size, "os.system('''" + "$(" * 500 + ")" * 500 + "''')\n")
    yield "many values", "".join(f"x='{n}'\n" for n in range(8)) + repeat(size, "exec(x)\n")
    yield "names in a pattern", "(" + repeat(size // 2, "a,") + ")=(" + repeat(size // 2, "b,") + ")"
    yield "one name of many", numbered(size, lambda n: f"x='{n}'\n")
    yield "one name of many modules", numbered(size, lambda n: f"x=os.a{n}\n")
    yield "text in backticks", repeat(size, "`", "`")
    yield "one long text", "x='" + "a" * (size - 10) + "'"
    yield "one long escaped text", "x='" + "\\x61" * ((size - 10) // 4) + "'"
    yield "one long command", "import os\nos.system('" + "a" * (size - 40) + "')"
    yield "escapes in code", "exec('" + "\\x61" * ((size - 10) // 4) + "')"
    yield "an expression of words", "x=" + repeat(size, "a if b else c or d and e+")


def javascript_shapes(size):
    yield "names", numbered(size, lambda n: f"a{n}=a{n + 1};")
    yield "variables", numbered(size, lambda n: f"let a{n}=a{n + 1};")
    yield "names of eval", "x0=eval;" + numbered(size, lambda n: f"x{n + 1}=x{n};")
    yield "later names of eval", numbered(size - 99, lambda n: f"x{n}=x{n + 1};") + "\n" + "".join(f"x{n}=eval;" for n in range(5))
    yield "functions", numbered(size, lambda n: f"function f{n}(a){{return f{n + 1}(a)}}\n")
    yield "names in depth", "{" * 149 + numbered(size - 400, lambda n: f"a{n % 100};") + "}" * 149
    yield "bound names in depth", "".join(f"var a{n}=eval;" for n in range(100)) + "{" * 149 + numbered(
        size - 3000, lambda n: f"a{n % 100};") + "}" * 149
    yield "this in depth", "{" * 199 + repeat(size - 400, "this;") + "}" * 199
    yield "this in many blocks", repeat(size, "{" * 190 + "this" + "}" * 190)
    yield "a call with many words", "f(" + repeat(size, "a,") + ")"
    yield "patterns", "let " + around(size, "{a:", "b", "}") + "=c"
    yield "a wide pattern", "let {" + numbered(size, lambda n: f"a{n},") + "}=require('fs')"
    yield "sequences", "(" + repeat(size, "a,") + "a)"
    yield "sequences in sequences", around(size, "(a,", "a", ")")
    yield "a list of texts", "x=[" + repeat(size, "'a',") + "]"
    yield "a list of commands", "require('child_process').spawn('a',[" + repeat(size, "'a',") + "])"
    yield "texts of texts", "x='" + "a" * 4000 + "';" + repeat(size - 9000, "`${x}`;")
    yield "long texts", "x='" + "a" * 4000 + "';" + repeat(size - 9000, "x+x;")
    yield "code from a name", "x='" + "a;" * 1900 + "';" + repeat(size - 9000, "eval(x);")
    yield "code from parts", "x='" + "a;" * 1000 + "';" + repeat(size - 9000, "eval(x+'1');")
    yield "code in code", "eval(`" + repeat(size - 40, "eval(\"a\");") + "`)"
    yield "hard code in code", "eval('" + repeat(size - 40, "{a[") + "')"
    yield "hard shell in code", "require('child_process').execSync('" + repeat(size - 80, "$(") + "')"
    yield "many hard shells", "const {execSync}=require('child_process');" + repeat(size, "execSync('" + "$(" * 500 + "');")
    yield "objects", "x={" + numbered(size, lambda n: f"a{n}:{n},") + "}"
    yield "json", "[" + repeat(size, '{"a":1,"b":[1,2,3],"c":{"d":null}},') + "0]"
    yield "many values", "".join(f"x='{n}';" for n in range(8)) + repeat(size, "eval(x);")
    yield "one name of many", numbered(size, lambda n: f"x='{n}';")
    yield "one long text", "x='" + "a" * (size - 10) + "'"
    yield "one long template", "x=`" + "a" * (size - 10) + "`"
    yield "one long expression", "x=/" + "a" * (size - 10) + "/"
    yield "types", repeat(size, "let a:Map<string,{b:c[]}>=d as e;\n")
    yield "types that fail", repeat(size, "let a:Map<string,{b:c[]}>=d as e;\n<a></b>{")
    yield "elements", repeat(size, "<a b={c}>d</a>;\n")
    yield "elements that fail", repeat(size, "<a b={c}>d</b>;\n")


def shell_shapes(size):
    yield "variables", numbered(size, lambda n: f"a{n}=$a{n + 1}\n")
    yield "variables of variables", "a0=" + "x" * 4000 + "\n" + numbered(size - 5000, lambda n: f"a{n + 1}=$a{n}\n")
    yield "long variables", "a=" + "x" * 4000 + "\n" + repeat(size - 5000, "$a ")
    yield "long variables in commands", "a=" + "x" * 4000 + "\n" + repeat(size - 5000, "$a\n")
    yield "many values", "".join(f"a={n}\n" for n in range(8)) + repeat(size, "$a $a $a\n")
    yield "many long values", "".join(f"a={n}{'x' * 4000}\n" for n in range(8)) + repeat(size - 33000, "b=$a\n")
    yield "eval of many values", "".join(f"a={n}{';ls' * 1000}\n" for n in range(8)) + repeat(size - 33000, "eval \"$a\"\n")
    yield "functions", numbered(size, lambda n: f"f{n}() {{ f{n + 1}; }}\n")
    yield "functions with words", numbered(size, lambda n: f"f{n}() {{ local a=$1; f{n + 1} \"$a\"; }}\n")
    yield "one function of many", repeat(size, "f() { f $1; }\n")
    yield "one function with long words", "f() { $1; }\n" + repeat(size, "f " + "a" * 4000 + "\n")
    yield "aliases", numbered(size, lambda n: f"alias a{n}=a{n + 1}\n")
    yield "aliases that are used", "alias a0=ls\n" + numbered(size, lambda n: f"alias a{n + 1}=a{n}; a{n + 1}\n")
    yield "files", numbered(size, lambda n: f"echo ls >f{n}; sh f{n}\n")
    yield "one file", "echo " + "ls;" * 1300 + " >f\n" + repeat(size - 5000, "sh f\n")
    yield "a file that grows", repeat(size, "echo a >>f\n") + "sh f\n"
    yield "a file that grows and runs", repeat(size, "echo a >>f; sh f\n")
    yield "a copied file", "echo " + "ls;" * 1300 + " >f\n" + numbered(size - 5000, lambda n: f"cp f f{n}\n")
    yield "here-documents", numbered(size, lambda n: f"cat <<E{n}\na\nE{n}\n")
    yield "open here-documents", numbered(size, lambda n: f"cat <<E{n}\n")
    yield "here-documents of one line", "cat " + numbered(size // 2, lambda n: f"<<E{n} ") + "\n" + numbered(size // 2, lambda n: f"E{n}\n")
    yield "a long here-document", "cat <<E\n" + repeat(size, "$(ls) `ls` $a\n") + "E\n"
    yield "a long here-document that runs", "bash <<E\n" + repeat(size, "ls `ls` $a\n") + "E\n"
    yield "long here-documents that run", repeat(size, "bash <<E\n" + "ls; `ls`; $a\n" * 1000 + "E\n")
    yield "a pipe of a long text", "echo '" + "a" * (size // 2) + "'" + repeat(size // 2, "|cat")
    yield "substitutions of a long text", "a=$(echo '" + "a" * (size // 2) + "')\n" + repeat(size // 2, "b=$a\n")
    yield "groups with a long text", repeat(size // 2, "{ ") + "echo '" + "a" * (size // 4) + "'" + repeat(size // 4, "; }")
    yield "pipes in pipes", around(size, "{ echo a | ", "cat", "; }")
    yield "directories", repeat(size, "cd a/b/c\nls x\n")
    yield "subshells with directories", around(size, "(cd a;", "ls", ")")
    yield "braces", "echo " + repeat(size, "{a,b}")
    yield "braces in braces", "echo " + around(size, "{a,", "b", "}")
    yield "wide braces", "echo {" + repeat(size, "a,") + "}"
    yield "many braces", repeat(size, "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\n")
    yield "many wide braces", repeat(size, "echo {" + "a," * 60 + "}" * 1 + "{" + "b," * 60 + "}\n")
    yield "one command of many words", repeat(size, "ls a")
    yield "one command of many variables", "a=b\nls " + repeat(size, "$a ")
    yield "one long word", "a" * size
    yield "a long word of quotes", repeat(size, "'a'\"b\"")
    yield "a command of many redirects", "ls " + repeat(size, ">a ")
    yield "one array", "a=(" + repeat(size, "b ") + ")"
    yield "an array that grows", repeat(size, "a+=(b)\n")
    yield "a text that grows", repeat(size, "a+=b\n")
    yield "loops", "for a in " + repeat(size, "b ") + "; do $a; done"
    yield "many long loops", repeat(size, "for a in " + "b " * 1000 + "; do $a; done\n")
    yield "runners", repeat(size, "f() { sudo \"$@\"; }\nf ls\n")
    yield "functions in functions", around(size, "f() { g() { ", "ls", "; }; }")
    yield "functions with long names", repeat(size, "a" * 4000 + "() { ls; }\n")
    yield "calls of long names", "a" * 4000 + "() { ls; }\n" + repeat(size, "a" * 4000 + "\n")
    yield "one find", "find . " + repeat(size, "-exec ls ; ")
    yield "one find of many paths", "find " + repeat(size // 2, "a ") + repeat(size // 2, "-exec ls \\; ")
    yield "one xargs of many", repeat(size, "xargs -I x ")
    yield "one git", "git " + repeat(size, "alias.a=!ls ")
    yield "one awk", "awk '" + repeat(size, "print $1 ") + "'"
    yield "one sed", "sed '" + repeat(size, "s/a/b/;") + "'"
    yield "one alias command", "alias " + repeat(size, "a=ls ")
    yield "one export", "export " + repeat(size, "a=b ")
    yield "one eval", "eval " + repeat(size, "ls ")
    yield "one eval of substitutions", "eval '" + repeat(size - 9, "$(") + "'"
    yield "one eval of closed substitutions", "eval '" + around(size - 9, "$(", "ls", ")") + "'"
    yield "many evals of substitutions", repeat(size, "eval '" + "$(" * 500 + ")" * 500 + "'\n")
    yield "evals in evals", shell_quoted(size, "eval")
    yield "shells in shells", shell_quoted(size, "bash -c")
    yield "sets in shells", "a=" + "x" * 4000 + "\n" + repeat(size - 5000, "bash -c 'ls $a'\n")
    yield "sets in shells with words", repeat(size, "bash -c 'ls $1' a " + "b" * 3000 + "\n")
    yield "downloads", numbered(size, lambda n: f"curl -o f{n} a\n")
    yield "prints", repeat(size, "printf '" + "%s" * 500 + "' a b c\n")
    yield "decoded", repeat(size, "echo -e '" + "\\x61" * 200 + "'|sh\n")
    yield "printed code", repeat(size, "printf '%s;' " + "ls " * 300 + "|sh\n")
    yield "read", repeat(size, "echo " + "a " * 1000 + "|read " + "b " * 500 + "\n")
    yield "descriptors", numbered(size, lambda n: f"exec {n % 10}<f{n}; cat <&{n % 10}\n")
    yield "default values", numbered(size, lambda n: f"${{a{n}:=$a{n + 1}}}\n")
    yield "replaced values", "a=" + "ab" * 2000 + "\n" + repeat(size - 5000, "b=${a//a/bc}\n")
    yield "elements", "a=(" + "b " * 1000 + ")\n" + repeat(size - 5000, "${a[999]}\n")
    yield "indirect values", "".join(f"a=b{n}\n" for n in range(8)) + "".join(f"b{m}={m}x{n}\n" for n in range(8) for m in range(8)) + repeat(size - 5000, "${!a}\n")
    yield "splitting by many signs", "IFS=" + "abcdefgh" * 100 + "\nx=" + "y" * 4000 + "\n" + repeat(size - 9000, "$x\n")
    yield "errors", repeat(size, "ls ) ( ls $( `\n")
    yield "errors with quotes", repeat(size, "ls ) \"a' ( $(\n")
    yield "errors in one line", repeat(size, "ls ) ( ls $( ` ")


def cost(binary, language, path, killed_after):
    """Seconds of processor time, megabytes, level."""
    def bound():
        os.nice(19)
        resource.setrlimit(resource.RLIMIT_CPU, (killed_after, killed_after))
    with subprocess.Popen([binary, "risk", "--json", "--language", language, "-f", path], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=bound) as process:
        answer = process.stdout.read()
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
    try:
        found = json.loads(answer)
        given_up = any(finding["rule"] == "code.not-analysed" for finding in found["findings"])
        level = found["level"] + ("*" if given_up else "")
    except ValueError:
        level = "none"
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, level


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True, help="a skerry")
    parser.add_argument("--size", type=int, default=SIZE, help="of each text, in bytes")
    parser.add_argument("--language", choices=sorted(PAIRS), help="only this one")
    parser.add_argument("--name", default="", help="only shapes whose names have this in them")
    parser.add_argument("--seconds", type=float, default=KILLED_AFTER, help="that one may take")
    parser.add_argument("--megabytes", type=float, default=1 << 20, help="that one may take")
    parser.add_argument("--killed-after", type=int, default=KILLED_AFTER, help="so many seconds")
    parser.add_argument("-f", dest="files", nargs="+", help="files; their endings tell the language")
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as directory:
        def texts():
            if options.files:
                endings = {".py": "python", ".sh": "shell"}
                for path in options.files:
                    yield endings.get(os.path.splitext(path)[1], "javascript"), path, path
                return
            for language in [options.language] if options.language else sorted(PAIRS):
                for name, text in shapes(language, options.size):
                    if options.name not in name:
                        continue
                    path = os.path.join(directory, "text")
                    with open(path, "w", encoding="utf-8", newline="", errors="surrogatepass") as file:
                        file.write(text[:options.size])
                    yield language, name, path
        for language, name, path in texts():
            seconds, megabytes, level = cost(options.binary, language, path, options.killed_after)
            line = f"{seconds:7.2f} s {megabytes:6.0f} MB {level:10} {language:10} {name}"
            found.append((seconds, megabytes, line))
            if sys.stdout.isatty() or seconds > options.seconds or megabytes > options.megabytes:
                print(line, file=sys.stderr)
    found.sort(reverse=True)
    print("\n".join(line for _, _, line in found))
    return 1 if any(seconds > options.seconds or megabytes > options.megabytes for seconds, megabytes, _ in found) else 0


if __name__ == "__main__":
    sys.exit(main())
