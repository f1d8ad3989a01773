// Where the scanners of the grammars get their memory: from the run of the parser that they belong to, which can be
// left at any moment and then frees it, and which counts it. Included before everything else of a scanner, instead of a
// change to it. src/policy/parser_memory.cpp has the functions.
#pragma once

#include <stdio.h>
#include <stdlib.h>

void *skerry_scanner_allocate(size_t count, size_t size);  // zeroed
void *skerry_scanner_reallocate(void *block, size_t bytes);
void skerry_scanner_free(void *block);

#define malloc(bytes) skerry_scanner_allocate(1, bytes)
#define calloc(count, size) skerry_scanner_allocate(count, size)
#define realloc(block, bytes) skerry_scanner_reallocate(block, bytes)
#define free(block) skerry_scanner_free(block)
