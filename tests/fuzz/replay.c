/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a fuzz target over the files of a directory, without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;
	int ret = 1;

	if (!file)
		goto out;
	if (fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size < 0)
		goto out;
	rewind(file);
	/* Exactly as large as the input, so that a sanitizer sees an overrun. */
	data = malloc(size ? (size_t)size : 1);
	if (!data || fread(data, 1, (size_t)size, file) != (size_t)size)
		goto out;
	LLVMFuzzerTestOneInput(data, (size_t)size);
	ret = 0;
out:
	if (ret)
		perror(path);
	free(data);
	if (file)
		fclose(file);
	return ret;
}

int main(int argc, char **argv)
{
	struct dirent *entry;
	DIR *dir;
	int count = 0, failed = 0;

	if (argc != 2 || !(dir = opendir(argv[1]))) {
		fprintf(stderr, "usage: %s CORPUS-DIRECTORY\n", argv[0]);
		return 2;
	}
	while ((entry = readdir(dir))) {
		char path[4096];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
		failed += run_file(path);
		count++;
	}
	closedir(dir);
	printf("%d inputs replayed\n", count);
	return failed || count == 0;
}
