-- A record and a daemon's store as version 6 of the schema was: written by a daemon of that time, dumped, never changed.
PRAGMA application_id = 1399542393;
PRAGMA user_version = 6;
BEGIN TRANSACTION;
CREATE TABLE approvals(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  execution TEXT NOT NULL,
  digest TEXT NOT NULL,
  decision TEXT NOT NULL,
  decided_by TEXT NOT NULL,
  reason TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  decided_at INTEGER
, tenant TEXT NOT NULL DEFAULT '', decided_from TEXT NOT NULL DEFAULT '', scope TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "approvals" VALUES(1,'apr_ca3as58up2gdxm1g','work~xmuvj544o6uf2at4','xpb4vvn2qqn8scdoq','81454da39a638f40d0a3d25d3950970c6abe16fa97cde2c71364beb8a72d578f','approved','tokfx62y72mmzmhl1gr','because',1794959418762017,1794959418896142,'acme','127.0.0.1:39344','once');
INSERT INTO "approvals" VALUES(2,'apr_jx7eyss65iu563b0','work~xmuvj544o6uf2at4','ximm0zgm652fjvmij','b4af4d7b4149248bfd03595513b64c349b7d1a1abf221deb274cebc7b0f60ef2','rejected','tokfx62y72mmzmhl1gr','because',1794959418936423,1794959419086836,'acme','127.0.0.1:39390','once');
CREATE TABLE causes(
  execution INTEGER NOT NULL REFERENCES executions(sequence) ON DELETE CASCADE,
  cause TEXT NOT NULL,
  PRIMARY KEY(execution, cause)
) STRICT, WITHOUT ROWID;
CREATE TABLE claims(
  tenant TEXT NOT NULL,
  key TEXT NOT NULL,
  request_sha256 TEXT NOT NULL,
  made TEXT NOT NULL,
  PRIMARY KEY(tenant, key)
) STRICT, WITHOUT ROWID;
INSERT INTO "claims" VALUES('acme','k1','392f2866bafd2a859fb0f7939b2a2794b085756e126a5bbc338347fcd105fd6e','xy7u6edmyfmhr2xtn');
CREATE TABLE executions(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
  kind TEXT NOT NULL,
  language TEXT NOT NULL,
  asked_by TEXT NOT NULL,
  sandbox TEXT NOT NULL,
  risk TEXT NOT NULL,
  approval TEXT NOT NULL,
  timeout_seconds INTEGER NOT NULL,
  memory_mb INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'running' CHECK(state IN ('running', 'done', 'lost')),
  outcome TEXT NOT NULL DEFAULT '',
  exit_code INTEGER NOT NULL DEFAULT 0,
  reason TEXT NOT NULL DEFAULT '',
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  obtain INTEGER NOT NULL DEFAULT 0,
  run INTEGER NOT NULL DEFAULT 0,
  finish INTEGER NOT NULL DEFAULT 0,
  what_bytes INTEGER NOT NULL,
  what_sha256 TEXT NOT NULL,
  what BLOB NOT NULL
, left_out INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "executions" VALUES(1,'x25ipcxbm691in4fn',1,'bootstrap','','root, skerry','','','',0,0,'done','exited',0,'',1794959418507709,1794959418570668,0,0,0,15,'a5fb930214fa588166bfe7a4dee257d99c290994fc26a55f421572b66bffe454',X'61206E657720776F726B7370616365',0);
INSERT INTO "executions" VALUES(2,'x0fxubtzdgq0oehkq',2,'bootstrap','','root, skerry','','','',0,0,'done','exited',0,'',1794959418576389,1794959418642651,0,0,0,15,'a5fb930214fa588166bfe7a4dee257d99c290994fc26a55f421572b66bffe454',X'61206E657720776F726B7370616365',0);
INSERT INTO "executions" VALUES(3,'xpb4vvn2qqn8scdoq',1,'run','python','root, skerry','native','critical','tokfx62y72mmzmhl1gr',20,512,'done','exited',0,'',1794959418761136,1794959418912418,0,14236878,1311309,59,'011e2a64159e560785f93382232e9374f8540219c5934f0cf44ec94cefe12bfa',X'696D706F7274206F730A6F70656E2827612E747874272C277727292E777269746528277827290A6F732E73797374656D28276563686F2068692729',0);
INSERT INTO "executions" VALUES(4,'ximm0zgm652fjvmij',1,'run','python','root, skerry','','critical','',20,512,'done','rejected',126,'Rejected: because; Runs a command of the operating system. (python.system, line 2; 1 more finding)',1794959418935683,1794959419087031,0,0,0,30,'2eb21c9d91764b8e7d54f4bcdc7ddeed58c0faeef3af7bafd7cd8de94e9da15f',X'696D706F7274206F730A6F732E73797374656D28276563686F206E6F2729',0);
INSERT INTO "executions" VALUES(5,'xp9iibjdsvivpogun',1,'run','shell','root, skerry','native','safe','',300,512,'done','exited',3,'',1794959419111112,1794959419115008,0,2140878,1318670,30,'30efa3fba3afa945e1d4d45b5970d14c3cc1c4ea6617896791f0d484c5cc13a8',X'6563686F206F75743B206563686F20657272203E26323B20657869742033',0);
INSERT INTO "executions" VALUES(6,'x635km67bfi1w2dij',1,'cell','python','root, skerry','','','',30,0,'done','exited',0,'',1794959419167045,1794959419178902,0,0,0,7,'597c2048085de5f6149250f154916c61c39e7ef96894b871007bd3c9937e6b51',X'783D350A782A32',0);
INSERT INTO "executions" VALUES(7,'xuysc6nam2323dbjq',1,'cell','python','root, skerry','','','',30,0,'done','exited',1,'',1794959419199063,1794959419200952,0,0,0,22,'044056f12c69e9219df907dd27a748c4ea373766a82782f097a4edf93908f132',X'72616973652056616C75654572726F7228226E6F2229',0);
INSERT INTO "executions" VALUES(8,'xctcg7p5unpjehho3',1,'write','','root, skerry','','','',0,0,'done','exited',0,'',1794959420254861,1794959420263207,0,0,0,5,'ffa0da5d885fba09d903c782713b6b098c8cf21f56a3a35d9aa920613220d2e1',X'622E747874',0);
INSERT INTO "executions" VALUES(9,'x9r0j5uxtfvf9kbw8',1,'run','python','root, skerry','native','medium','',20,512,'done','exited',0,'',1794959420283931,1794959420309633,0,24093674,817355,27,'fd4da5594cab8c3f4c50391a637f3b491eb967cf10580f5cae78d3388efcf597',X'7072696E74286F70656E2827622E74787427292E72656164282929',0);
CREATE TABLE file_notices(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  execution INTEGER NOT NULL REFERENCES executions(sequence) ON DELETE CASCADE,
  path BLOB NOT NULL,
  about TEXT NOT NULL CHECK(about IN ('withheld', 'to_review')),
  reason TEXT NOT NULL
) STRICT;
CREATE TABLE file_uses(
  number INTEGER PRIMARY KEY,
  execution INTEGER NOT NULL REFERENCES executions(sequence) ON DELETE CASCADE,
  path BLOB NOT NULL,
  how TEXT NOT NULL CHECK(how IN ('read', 'named')),
  sha256 TEXT NOT NULL
) STRICT;
INSERT INTO "file_uses" VALUES(1,9,X'622E747874','named','2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824');
CREATE TABLE file_versions(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  session INTEGER NOT NULL REFERENCES sessions(key) ON DELETE CASCADE,
  execution INTEGER NOT NULL REFERENCES executions(sequence) ON DELETE CASCADE,
  path BLOB NOT NULL,
  action TEXT NOT NULL CHECK(action IN ('created', 'changed', 'removed')),
  kind TEXT NOT NULL CHECK(kind IN ('file', 'link')),
  size INTEGER NOT NULL,
  mode INTEGER NOT NULL,
  sha256 TEXT NOT NULL
) STRICT;
INSERT INTO "file_versions" VALUES(1,1,1,X'2E6D656D6F72792F7461736B5F706C616E2E6D64','created','file',13,420,'868ee7ca981a57d861b909f4ab554c477f757dd1e13cd980bbc15e24a6b1fab1');
INSERT INTO "file_versions" VALUES(2,1,1,X'2E6D656D6F72792F66696E64696E67732E6D64','created','file',12,420,'fafde837ad383a3ad90d40fef67eba95c142abe4e6a9538a398ff3c3f3276f65');
INSERT INTO "file_versions" VALUES(3,1,1,X'2E6D656D6F72792F70726F67726573732E6D64','created','file',12,420,'8e0d3c209917311c42832d60726bd603fb5a052c55e44e91e33092e82b974124');
INSERT INTO "file_versions" VALUES(4,2,2,X'2E6D656D6F72792F7461736B5F706C616E2E6D64','created','file',13,420,'868ee7ca981a57d861b909f4ab554c477f757dd1e13cd980bbc15e24a6b1fab1');
INSERT INTO "file_versions" VALUES(5,2,2,X'2E6D656D6F72792F66696E64696E67732E6D64','created','file',12,420,'fafde837ad383a3ad90d40fef67eba95c142abe4e6a9538a398ff3c3f3276f65');
INSERT INTO "file_versions" VALUES(6,2,2,X'2E6D656D6F72792F70726F67726573732E6D64','created','file',12,420,'8e0d3c209917311c42832d60726bd603fb5a052c55e44e91e33092e82b974124');
INSERT INTO "file_versions" VALUES(7,1,3,X'612E747874','created','file',1,420,'2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881');
INSERT INTO "file_versions" VALUES(8,1,8,X'622E747874','created','file',5,420,'2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824');
CREATE TABLE hosted_sessions(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
  settings TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  in_use INTEGER NOT NULL CHECK(in_use IN (0, 1))
) STRICT;
INSERT INTO "hosted_sessions" VALUES(1,'work~xmuvj544o6uf2at4','acme','{"mode":"per-session","backend":"auto","limits":{"memory_mb":512,"pids":256,"cpu_percent":0,"open_files":1024,"file_mb":1024,"tmp_mb":64,"disk_mb":1024,"disk_files":65536},"timeout_seconds":30,"environment":{"A":"1"},"metadata":{"k":"v"},"idle_seconds":300}',1794959418506816,NULL,1);
CREATE TABLE runs(
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  tenant TEXT NOT NULL,
  kind TEXT NOT NULL,
  language TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('waiting', 'running', 'done', 'lost')),
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  what TEXT NOT NULL,
  result TEXT NOT NULL DEFAULT '', bytes INTEGER NOT NULL DEFAULT 0,
  CHECK((ended_at IS NULL) = (state IN ('waiting', 'running')))
) STRICT;
INSERT INTO "runs" VALUES(1,'xy7u6edmyfmhr2xtn','','acme','execute','python','done',1794959418726796,1794959418731494,'print(6*7)','{"success":true,"stdout":"","stderr":"","exit_code":0,"error":null,"sandbox_type":"native","start":"warm","execution_time_ms":3,"timings_ms":{"obtain":0.056724,"run":3.74625,"finish":0.018958},"files_created":[],"files_changed":[],"files_deleted":[],"files_withheld":[],"outcome":"exited","output_truncated":false,"output_bytes":3,"memory_peak_bytes":4370432,"execution_id":"xy7u6edmyfmhr2xtn","limits_reached":[],"degraded":[],"risk":{"level":"safe","reason":"Nothing dangerous was found.","requires_confirmation":false,"requires_isolation":false,"suggested_sandbox":"subprocess","detected_patterns":[],"lowerings":[]}}',1526);
INSERT INTO "runs" VALUES(2,'xpb4vvn2qqn8scdoq','work~xmuvj544o6uf2at4','acme','execute','python','done',1794959418758753,1794959418912682,'import os
open(''a.txt'',''w'').write(''x'')
os.system(''echo hi'')','{"success":true,"stdout":"","stderr":"","exit_code":0,"error":null,"sandbox_type":"native","start":"fork","execution_time_ms":14,"timings_ms":{"obtain":2.136327,"run":14.236878,"finish":1.311309},"files_created":["a.txt"],"files_changed":[],"files_deleted":[],"files_withheld":[],"outcome":"exited","output_truncated":false,"output_bytes":3,"memory_peak_bytes":4702208,"execution_id":"xpb4vvn2qqn8scdoq","approved_by":"tokfx62y72mmzmhl1gr","limits_reached":[],"degraded":[],"risk":{"level":"critical","reason":"Runs a command of the operating system. (python.system, line 3; 3 more findings)","requires_confirmation":true,"requires_isolation":true,"suggested_sandbox":"isolated","detected_patterns":["[CRITICAL] python.system: Runs a command of the operating system. (line 3)","[HIGH] python.import-system: Imports a module that reaches the operating system or the interpreter. (line 1)","[HIGH] python.file-write: Opens a file for writing, or for what cannot be told. (line 2)","[HIGH] python.write-call: Writes to something that is not known to be harmless. (line 2)"],"lowerings":[]}}',2509);
INSERT INTO "runs" VALUES(3,'ximm0zgm652fjvmij','work~xmuvj544o6uf2at4','acme','execute','python','done',1794959418935399,1794959419087164,'import os
os.system(''echo no'')','{"success":false,"stdout":"","stderr":"","exit_code":126,"error":"Rejected: because; Runs a command of the operating system. (python.system, line 2; 1 more finding)","sandbox_type":null,"start":"exec","execution_time_ms":0,"timings_ms":{"obtain":0.001663,"run":0.0,"finish":0.0},"files_created":[],"files_changed":[],"files_deleted":[],"files_withheld":[],"outcome":"rejected","output_truncated":false,"output_bytes":0,"memory_peak_bytes":0,"execution_id":"ximm0zgm652fjvmij","limits_reached":[],"degraded":[],"risk":{"level":"critical","reason":"Runs a command of the operating system. (python.system, line 2; 1 more finding)","requires_confirmation":true,"requires_isolation":true,"suggested_sandbox":"isolated","detected_patterns":["[CRITICAL] python.system: Runs a command of the operating system. (line 2)","[HIGH] python.import-system: Imports a module that reaches the operating system or the interpreter. (line 1)"],"lowerings":[]}}',2186);
INSERT INTO "runs" VALUES(4,'xp9iibjdsvivpogun','work~xmuvj544o6uf2at4','acme','command','shell','done',1794959419110837,1794959419115135,'echo out; echo err >&2; exit 3','{"success":false,"stdout":"","stderr":"","exit_code":3,"error":null,"sandbox_type":"native","start":"exec","execution_time_ms":2,"timings_ms":{"obtain":0.001883,"run":2.140878,"finish":1.31867},"files_created":[],"files_changed":[],"files_deleted":[],"files_withheld":[],"outcome":"exited","output_truncated":false,"output_bytes":8,"memory_peak_bytes":4702208,"execution_id":"xp9iibjdsvivpogun","limits_reached":[],"degraded":[],"risk":{"level":"safe","reason":"Nothing dangerous was found.","requires_confirmation":false,"requires_isolation":false,"suggested_sandbox":"subprocess","detected_patterns":[],"lowerings":[]}}',1548);
INSERT INTO "runs" VALUES(5,'x635km67bfi1w2dij','work~xmuvj544o6uf2at4','acme','cell','python','done',1794959419166814,1794959419179106,'x=5
x*2','{"success":true,"stdout":"","stderr":"","exit_code":0,"error":null,"error_name":null,"traceback":null,"outputs":[{"kind":"result","data":{"text/plain":"10"}}],"context":"c","language":"python","cell":1,"alive":true,"start":"fork","execution_time_ms":11,"outcome":"exited","output_truncated":false,"output_bytes":0,"degraded":[],"execution_id":"x635km67bfi1w2dij"}',983);
INSERT INTO "runs" VALUES(6,'xuysc6nam2323dbjq','work~xmuvj544o6uf2at4','acme','cell','python','done',1794959419198836,1794959419201153,'raise ValueError("no")','{"success":false,"stdout":"","stderr":"","exit_code":1,"error":"ValueError: no","error_name":"ValueError","traceback":"Traceback (most recent call last):\n  File \"<cell 2>\", line 1, in <module>\n    raise ValueError(\"no\")\nValueError: no\n","outputs":[],"context":"c","language":"python","cell":2,"alive":true,"start":"fork","execution_time_ms":2,"outcome":"exited","output_truncated":false,"output_bytes":0,"degraded":[],"execution_id":"xuysc6nam2323dbjq"}',1220);
INSERT INTO "runs" VALUES(7,'x0fbp42mj8ik5e5tu','','acme','execute','python','done',1794959419215572,1794959420244297,'while True: pass','{"success":false,"stdout":"","stderr":"","exit_code":124,"error":"Execution timeout (1s)","sandbox_type":"native","start":"warm","execution_time_ms":1009,"timings_ms":{"obtain":0.017956,"run":1009.237578,"finish":0.043514},"files_created":[],"files_changed":[],"files_deleted":[],"files_withheld":[],"outcome":"timed_out","output_truncated":false,"output_bytes":0,"memory_peak_bytes":4366336,"execution_id":"x0fbp42mj8ik5e5tu","limits_reached":[{"name":"time","limit":1,"unit":"s"}],"degraded":[],"risk":{"level":"safe","reason":"Nothing dangerous was found.","requires_confirmation":false,"requires_isolation":false,"suggested_sandbox":"subprocess","detected_patterns":[],"lowerings":[]}}',1670);
INSERT INTO "runs" VALUES(8,'x9r0j5uxtfvf9kbw8','work~xmuvj544o6uf2at4','acme','execute','python','done',1794959420283731,1794959420309865,'print(open(''b.txt'').read())','{"success":true,"stdout":"","stderr":"","exit_code":0,"error":null,"sandbox_type":"native","start":"fork","execution_time_ms":24,"timings_ms":{"obtain":0.001632,"run":24.093674,"finish":0.817355},"files_created":[],"files_changed":[],"files_deleted":[],"files_withheld":[],"outcome":"exited","output_truncated":false,"output_bytes":6,"memory_peak_bytes":8626176,"execution_id":"x9r0j5uxtfvf9kbw8","limits_reached":[],"degraded":[],"risk":{"level":"medium","reason":"Opens a file for reading. (python.file-read, line 1; 1 more finding)","requires_confirmation":false,"requires_isolation":true,"suggested_sandbox":"isolated","detected_patterns":["[MEDIUM] python.file-read: Opens a file for reading. (line 1)","[MEDIUM] python.read-call: Reads from something that is not known to be harmless. (line 1)"],"lowerings":[]}}',1939);
INSERT INTO "runs" VALUES(9,'xa6v6k27vky9e54jb','','acme','execute','python','running',1794959420319132,NULL,'import time
time.sleep(50)','',326);
CREATE TABLE sessions(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER NOT NULL,
  deleted_at INTEGER
, tenant TEXT NOT NULL DEFAULT '', bytes INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "sessions" VALUES(1,'work~xmuvj544o6uf2at4','root, skerry',1794959418507376,1794959418507376,NULL,'acme',6286);
INSERT INTO "sessions" VALUES(2,'gone~owd2mzyb40p18n3b','root, skerry',1794959418576254,1794959418576254,1794959418702693,'acme',1331);
CREATE TABLE summaries(
  run INTEGER PRIMARY KEY REFERENCES runs(sequence) ON DELETE CASCADE,
  summary TEXT NOT NULL
) STRICT;
INSERT INTO "summaries" VALUES(1,'{"success":true,"exit_code":0,"error":null,"sandbox_type":"native","start":"warm","execution_time_ms":3,"timings_ms":{"obtain":0.056724,"run":3.74625,"finish":0.018958},"files_created":[],"files_changed":[],"files_deleted":[],"files_withheld":[],"outcome":"exited","output_truncated":false,"output_bytes":3,"memory_peak_bytes":4370432,"execution_id":"xy7u6edmyfmhr2xtn","limits_reached":[],"degraded":[],"risk":{"level":"safe","reason":"Nothing dangerous was found.","requires_confirmation":false,"requires_isolation":false,"suggested_sandbox":"subprocess","detected_patterns":[],"lowerings":[]}}');
INSERT INTO "summaries" VALUES(2,'{"success":true,"exit_code":0,"error":null,"sandbox_type":"native","start":"fork","execution_time_ms":14,"timings_ms":{"obtain":2.136327,"run":14.236878,"finish":1.311309},"files_created":["a.txt"],"files_changed":[],"files_deleted":[],"files_withheld":[],"outcome":"exited","output_truncated":false,"output_bytes":3,"memory_peak_bytes":4702208,"execution_id":"xpb4vvn2qqn8scdoq","approved_by":"tokfx62y72mmzmhl1gr","limits_reached":[],"degraded":[],"risk":{"level":"critical","reason":"Runs a command of the operating system. (python.system, line 3; 3 more findings)","requires_confirmation":true,"requires_isolation":true,"suggested_sandbox":"isolated","detected_patterns":["[CRITICAL] python.system: Runs a command of the operating system. (line 3)","[HIGH] python.import-system: Imports a module that reaches the operating system or the interpreter. (line 1)","[HIGH] python.file-write: Opens a file for writing, or for what cannot be told. (line 2)","[HIGH] python.write-call: Writes to something that is not known to be harmless. (line 2)"],"lowerings":[]}}');
INSERT INTO "summaries" VALUES(3,'{"success":false,"exit_code":126,"error":"Rejected: because; Runs a command of the operating system. (python.system, line 2; 1 more finding)","sandbox_type":null,"start":"exec","execution_time_ms":0,"timings_ms":{"obtain":0.001663,"run":0.0,"finish":0.0},"files_created":[],"files_changed":[],"files_deleted":[],"files_withheld":[],"outcome":"rejected","output_truncated":false,"output_bytes":0,"memory_peak_bytes":0,"execution_id":"ximm0zgm652fjvmij","limits_reached":[],"degraded":[],"risk":{"level":"critical","reason":"Runs a command of the operating system. (python.system, line 2; 1 more finding)","requires_confirmation":true,"requires_isolation":true,"suggested_sandbox":"isolated","detected_patterns":["[CRITICAL] python.system: Runs a command of the operating system. (line 2)","[HIGH] python.import-system: Imports a module that reaches the operating system or the interpreter. (line 1)"],"lowerings":[]}}');
INSERT INTO "summaries" VALUES(4,'{"success":false,"exit_code":3,"error":null,"sandbox_type":"native","start":"exec","execution_time_ms":2,"timings_ms":{"obtain":0.001883,"run":2.140878,"finish":1.31867},"files_created":[],"files_changed":[],"files_deleted":[],"files_withheld":[],"outcome":"exited","output_truncated":false,"output_bytes":8,"memory_peak_bytes":4702208,"execution_id":"xp9iibjdsvivpogun","limits_reached":[],"degraded":[],"risk":{"level":"safe","reason":"Nothing dangerous was found.","requires_confirmation":false,"requires_isolation":false,"suggested_sandbox":"subprocess","detected_patterns":[],"lowerings":[]}}');
INSERT INTO "summaries" VALUES(5,'{"success":true,"exit_code":0,"error":null,"error_name":null,"traceback":null,"outputs":[],"context":"c","language":"python","cell":1,"alive":true,"start":"fork","execution_time_ms":11,"outcome":"exited","output_truncated":false,"output_bytes":0,"degraded":[],"execution_id":"x635km67bfi1w2dij","outputs_total":1}');
INSERT INTO "summaries" VALUES(6,'{"success":false,"exit_code":1,"error":"ValueError: no","error_name":"ValueError","traceback":"Traceback (most recent call last):\n  File \"<cell 2>\", line 1, in <module>\n    raise ValueError(\"no\")\nValueError: no\n","outputs":[],"context":"c","language":"python","cell":2,"alive":true,"start":"fork","execution_time_ms":2,"outcome":"exited","output_truncated":false,"output_bytes":0,"degraded":[],"execution_id":"xuysc6nam2323dbjq"}');
INSERT INTO "summaries" VALUES(7,'{"success":false,"exit_code":124,"error":"Execution timeout (1s)","sandbox_type":"native","start":"warm","execution_time_ms":1009,"timings_ms":{"obtain":0.017956,"run":1009.237578,"finish":0.043514},"files_created":[],"files_changed":[],"files_deleted":[],"files_withheld":[],"outcome":"timed_out","output_truncated":false,"output_bytes":0,"memory_peak_bytes":4366336,"execution_id":"x0fbp42mj8ik5e5tu","limits_reached":[{"name":"time","limit":1,"unit":"s"}],"degraded":[],"risk":{"level":"safe","reason":"Nothing dangerous was found.","requires_confirmation":false,"requires_isolation":false,"suggested_sandbox":"subprocess","detected_patterns":[],"lowerings":[]}}');
INSERT INTO "summaries" VALUES(8,'{"success":true,"exit_code":0,"error":null,"sandbox_type":"native","start":"fork","execution_time_ms":24,"timings_ms":{"obtain":0.001632,"run":24.093674,"finish":0.817355},"files_created":[],"files_changed":[],"files_deleted":[],"files_withheld":[],"outcome":"exited","output_truncated":false,"output_bytes":6,"memory_peak_bytes":8626176,"execution_id":"x9r0j5uxtfvf9kbw8","limits_reached":[],"degraded":[],"risk":{"level":"medium","reason":"Opens a file for reading. (python.file-read, line 1; 1 more finding)","requires_confirmation":false,"requires_isolation":true,"suggested_sandbox":"isolated","detected_patterns":["[MEDIUM] python.file-read: Opens a file for reading. (line 1)","[MEDIUM] python.read-call: Reads from something that is not known to be harmless. (line 1)"],"lowerings":[]}}');
CREATE TABLE tokens(
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  tenant TEXT NOT NULL,
  scopes TEXT NOT NULL,
  secret_sha256 TEXT NOT NULL UNIQUE,
  requests_per_second INTEGER NOT NULL,
  concurrent_runs INTEGER NOT NULL,
  sessions INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;
INSERT INTO "tokens" VALUES(1,'tokwgn16qoulews6zl1','ci','acme','run','a2c1b2940cd7be6d240cf2594851d8aeaa80645bf9bb3736fbcd3e5630cc5511',0,0,0,'local',1794959418178842,NULL,NULL);
INSERT INTO "tokens" VALUES(2,'tokfx62y72mmzmhl1gr','person','acme','admin','e70fb7750d4f4ffe481cffd4ca71f37a47ab4918667a2bc9d969d5cf5003f491',0,0,0,'local',1794959418246801,NULL,NULL);
INSERT INTO "tokens" VALUES(3,'tokufa4elc47qfyrpes','old','acme','read','14dd774db57e6ecbcc5d8ebe44825f51689b3448d9bacf023e8c67e690b82460',0,0,0,'local',1794959418342683,NULL,1794959418459546);
CREATE INDEX executions_of_session ON executions(session);
CREATE INDEX executions_unfinished ON executions(session) WHERE state = 'running';
CREATE INDEX file_versions_of_path ON file_versions(session, path);
CREATE INDEX file_versions_of_execution ON file_versions(execution);
CREATE INDEX file_uses_of_execution ON file_uses(execution);
CREATE INDEX runs_of_tenant ON runs(tenant);
CREATE INDEX runs_of_session ON runs(session);
CREATE INDEX runs_not_done ON runs(state) WHERE state <> 'done';
CREATE INDEX runs_by_end ON runs(ended_at) WHERE session = '' AND ended_at IS NOT NULL;
CREATE INDEX claims_of_made ON claims(made);
CREATE INDEX approvals_of_tenant ON approvals(tenant);
CREATE INDEX sessions_of_tenant ON sessions(tenant);
CREATE INDEX runs_bytes ON runs(tenant, bytes);
CREATE INDEX file_notices_of_execution ON file_notices(execution);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('tokens',3);
INSERT INTO "sqlite_sequence" VALUES('hosted_sessions',2);
INSERT INTO "sqlite_sequence" VALUES('sessions',2);
INSERT INTO "sqlite_sequence" VALUES('executions',9);
INSERT INTO "sqlite_sequence" VALUES('file_versions',8);
INSERT INTO "sqlite_sequence" VALUES('runs',9);
INSERT INTO "sqlite_sequence" VALUES('approvals',2);
COMMIT;
