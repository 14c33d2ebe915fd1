/* SPDX-License-Identifier: Apache-2.0 */
/* Map events: the executable mappings of a process, by which addresses of stacks are symbolized. */
#include "parsers.h"

static int64_t pid_of(const struct sinsp_parse *p)
{
	return sinsp_s64(sinsp_evt_param(p, SINSP_P_pid), -1);
}

static struct sinsp_code_file *file_of(struct sinsp_parse *p)
{
	const struct scap_param *path = sinsp_evt_param(p, SINSP_P_path),
				*build_id = sinsp_evt_param(p, SINSP_P_build_id);
	struct sinsp_code_id id = {
		.dev = (uint32_t)sinsp_u64(sinsp_evt_param(p, SINSP_P_dev), 0),
		.ino = sinsp_u64(sinsp_evt_param(p, SINSP_P_ino), 0),
		.ino_gen = sinsp_u64(sinsp_evt_param(p, SINSP_P_ino_gen), 0),
	};

	if (build_id && build_id->len <= sizeof(id.build_id)) {
		id.build_id_len = (uint8_t)build_id->len;
		memcpy(id.build_id, build_id->p, build_id->len);
	}
	return sinsp_code_file_get(&p->s->code_maps, &id, path ? (const char *)path->p : "",
				   sinsp_text_len(path));
}

void sinsp_parse_map(struct sinsp_parse *p)
{
	const uint64_t addr = sinsp_u64(sinsp_evt_param(p, SINSP_P_addr), 0);
	const uint64_t length = sinsp_u64(sinsp_evt_param(p, SINSP_P_length), 0);
	struct sinsp_code_map map = {
		.start = addr,
		.end = addr + length,
		.offset = sinsp_u64(sinsp_evt_param(p, SINSP_P_offset), 0),
	};

	if (map.end <= addr)
		return;
	map.file = file_of(p);
	if (!map.file)
		return;
	if (map.file->pid == -1) {
		map.file->pid = pid_of(p);
		map.file->start = map.start;
		map.file->end = map.end;
		map.file->offset = map.offset;
		map.file->seen_ns = p->e->raw.ts_ns;
	}
	sinsp_code_map_add(&p->s->code_maps, pid_of(p), &map);
}

void sinsp_parse_map_fork(struct sinsp_parse *p)
{
	sinsp_code_maps_fork(&p->s->code_maps, pid_of(p),
			     sinsp_s64(sinsp_evt_param(p, SINSP_P_parent), -1));
}

/* Removes all mappings: after an exec, or at the end of the process. */
void sinsp_parse_map_none(struct sinsp_parse *p)
{
	sinsp_code_maps_drop(&p->s->code_maps, pid_of(p));
}
