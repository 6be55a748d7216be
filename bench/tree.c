/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bench/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/why.h"

/* Of a file: it takes an ordinary compiler some hundredths of a second. */
#define FUNCTIONS 10

static const char makefile[] =
	"# Every file is compiled by a process of its own, as in any larger tree.\n"
	"SOURCES := $(wildcard *.c)\n"
	"CC := cc\n"
	"program: $(SOURCES:.c=.o)\n"
	"\t$(CC) -o $@ $^\n"
	"%.o: %.c tree.h\n"
	"\t$(CC) -O2 -c -o $@ $<\n";

static const char header[] =
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"struct cell { unsigned int key, value; struct cell *next; };\n"
	"struct table { struct cell *bucket[64]; unsigned int count; };\n";

/* What makes the functions differ: a linear congruential generator, Knuth's. */
static unsigned int draw(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(*seed >> 33);
}

static void write_function(FILE *file, uint64_t number, int function, uint64_t *seed)
{
	fprintf(file,
		"static unsigned int f%" PRIu64 "_%d(struct table *t, unsigned int n)\n{\n"
		"\tunsigned int sum = %u;\n"
		"\tfor (unsigned int i = 0; i < n; i++) {\n"
		"\t\tstruct cell *c = t->bucket[(i * %uu) %% 64];\n"
		"\t\tfor (; c; c = c->next) {\n"
		"\t\t\tif (c->key %% %u == 0)\n\t\t\t\tsum += c->value * %uu;\n"
		"\t\t\telse if ((c->key ^ sum) & %uu)\n\t\t\t\tsum ^= c->value << (i %% %u);\n"
		"\t\t\telse\n\t\t\t\tsum -= (unsigned int)strlen(\"%u\");\n"
		"\t\t}\n"
		"\t}\n"
		"\treturn sum;\n}\n",
		number, function, draw(seed), draw(seed) | 1, draw(seed) % 97 + 2, draw(seed),
		draw(seed), draw(seed) % 31 + 1, draw(seed));
}

static void write_unit(FILE *file, uint64_t number)
{
	uint64_t seed = number + 1;

	fputs("#include \"tree.h\"\n", file);
	for (int i = 0; i < FUNCTIONS; i++)
		write_function(file, number, i, &seed);
	fprintf(file, "unsigned int unit%" PRIu64 "(struct table *t)\n{\n\treturn 0", number);
	for (int i = 0; i < FUNCTIONS; i++)
		fprintf(file, " + f%" PRIu64 "_%d(t, %u)", number, i, draw(&seed) % 1000);
	fputs(";\n}\n", file);
}

static void write_main(FILE *file, uint64_t files)
{
	fputs("#include \"tree.h\"\n", file);
	for (uint64_t i = 0; i < files; i++)
		fprintf(file, "unsigned int unit%" PRIu64 "(struct table *t);\n", i);
	fputs("int main(void)\n{\n\tstatic struct table t;\n\tunsigned int sum = 0;\n", file);
	for (uint64_t i = 0; i < files; i++)
		fprintf(file, "\tsum += unit%" PRIu64 "(&t);\n", i);
	fputs("\tprintf(\"%u\\n\", sum);\n\treturn 0;\n}\n", file);
}

static FILE *create(int directory, const char *name)
{
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

/* 0 or a negative errno; what was written may have failed only now. */
static int finish(FILE *file)
{
	bool has_failed = ferror(file);

	return fclose(file) || has_failed ? -(errno ? errno : EIO) : 0;
}

static int write_text(int directory, const char *name, const char *text)
{
	FILE *file = create(directory, name);

	if (!file)
		return -errno;
	fputs(text, file);
	return finish(file);
}

static int write_all(int directory, uint64_t files)
{
	int ret = write_text(directory, "Makefile", makefile);
	FILE *file;

	if (ret == 0)
		ret = write_text(directory, "tree.h", header);
	for (uint64_t i = 0; ret == 0 && i < files; i++) {
		char name[40];

		snprintf(name, sizeof(name), "unit%" PRIu64 ".c", i);
		file = create(directory, name);
		if (!file)
			return -errno;
		write_unit(file, i);
		ret = finish(file);
	}
	file = ret == 0 ? create(directory, "main.c") : NULL;
	if (!file)
		return ret ? ret : -errno;
	write_main(file, files);
	return finish(file);
}

int tree_make(uint64_t files, char **ret_path, struct act_why *why)
{
	char *path;
	int directory, ret;

	if (asprintf(&path, "%s/tree", getenv("TMPDIR")) < 0)
		return because(why, -ENOMEM, "out of memory");
	directory = mkdir(path, 0700) < 0 ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ret = directory < 0 ? -errno : write_all(directory, files);
	if (directory >= 0)
		close(directory);
	if (ret < 0) {
		because(why, ret, "cannot write a tree to build in %s: %s", path, strerror(-ret));
		free(path);
		return ret;
	}
	*ret_path = path;
	return 0;
}

static bool is_made(const char *name)
{
	const char *dot = strrchr(name, '.');

	return (dot && strcmp(dot, ".o") == 0) || strcmp(name, "program") == 0;
}

int tree_clean(const char *path, struct act_why *why)
{
	DIR *directory = opendir(path);
	struct dirent *entry;
	int ret = 0;

	if (!directory)
		return because(why, -errno, "cannot clean %s: %s", path, strerror(errno));
	while (ret == 0 && (entry = readdir(directory)))
		if (is_made(entry->d_name) && unlinkat(dirfd(directory), entry->d_name, 0) < 0)
			ret = -errno;
	closedir(directory);
	return ret < 0 ? because(why, ret, "cannot clean %s: %s", path, strerror(-ret)) : 0;
}
