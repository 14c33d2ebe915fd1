/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Interpreters: the description that libscap gives to the driver for a process with a detected
 * interpreter, so that the driver can walk the frames of its loop. Offsets are in bytes. */
#ifndef DRIVER_SHARED_INTERP_H
#define DRIVER_SHARED_INTERP_H

#include "shared/record.h"
#include "shared/stack.h"

#define INTERP_PROCESSES_MAX 16384u

/* Maximum lengths of what is sent of a code object, in bytes. */
#define INTERP_NAME_MAX 256u
#define INTERP_FILE_MAX 512u
#define INTERP_LINES_MAX 2048u

/* How the frames of CPython hang together, by version. */
enum python_frames {
	PYTHON_FRAME_OBJECTS, /* 3.7 to 3.10: one frame object for each activation of the loop */
	PYTHON_ENTRY_FLAG, /* 3.11: a list of C frames; the first frame of each is marked */
	PYTHON_ENTRY_FRAME, /* 3.12: the same, and below the first frame one on the C stack */
	PYTHON_NO_C_FRAMES, /* 3.13: only that one */
};

struct interp_python {
	u64 tss; /* address of the thread-specific key: u32 whether it exists, u32 key */
	u8 frames; /* enum python_frames */
	u8 minor; /* 3.minor */
	u8 entry; /* value of the byte at frame_entry in the outermost frame of an activation */
	u8 lasti_scale; /* bytes for each unit of frame_lasti in frame objects */
	u8 tss_is_key; /* tss: only the key, which exists */
	u16 tstate_frame; /* in the thread state: the C frame, or the frame */
	u16 frame_code, frame_previous, frame_lasti, frame_entry;
	u16 code_argcount, code_flags, code_first_line, code_file, code_name, code_lines,
		code_bytes; /* in the code object */
	u16 text; /* in a str: the characters, if all are ASCII */
	u16 wide_text; /* and if not */
};

struct interp_key {
	u32 pid;
	u32 walker; /* enum stack_walker */
};

struct interp_process {
	u32 walker;
	u32 pad;
	struct interp_python python;
};

/* Kinds of characters in a text that the driver copies. */
enum interp_text { INTERP_ASCII, INTERP_UCS1, INTERP_UCS2, INTERP_UCS4 };

#endif /* DRIVER_SHARED_INTERP_H */
