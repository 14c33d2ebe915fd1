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
#define INTERP_LINES_MAX 8192u
#define INTERP_LINE_BASES_MAX 1024u

/* How the frames of CPython hang together, by version. */
enum python_frames {
	PYTHON_FRAME_OBJECTS, /* 3.6 to 3.10: one frame object for each activation of the loop */
	PYTHON_ENTRY_FLAG, /* 3.11: a list of C frames; the first frame of each is marked */
	PYTHON_ENTRY_FRAME, /* 3.12: the same, and below the first frame one on the C stack */
	PYTHON_NO_C_FRAMES, /* 3.13 and 3.14: only that one */
};

#define PYTHON_HEAD_SZ 16
#define PYTHON_FREE_HEAD_SZ 32 /* without the GIL */

struct interp_python {
	u8 frames; /* enum python_frames */
	u8 minor; /* 3.minor */
	u8 entry; /* value of the byte at frame_entry in the outermost frame of an activation */
	u8 lasti_scale; /* bytes for each unit of frame_lasti in frame objects */
	u8 root_is_key; /* root: only the key, which exists */
	u8 head; /* size of what each object begins with */
	u16 tstate_frame; /* in the thread state: the C frame, or the frame */
	u16 tstate_thread; /* in the thread state: its thread, as the thread pointer */
	u16 interp_next, interp_states; /* in an interpreter; a thread state's next one is at 8 */
	s32 interps; /* the list of interpreters, relative to the root */
	u16 frame_code, frame_previous, frame_lasti, frame_entry;
	u16 code_argcount, code_flags, code_first_line, code_file, code_name, code_lines,
		code_bytes; /* in the code object */
	u16 text; /* in a str: the characters, if all are ASCII */
	u16 wide_text; /* and if not */
	u16 gc_collecting; /* in an interpreter: whether garbage is collected; 0: unknown */
	s32 gil; /* the thread state that has the GIL, relative to the root; from 3.12 on in a
		  * thread state: its status */
};

struct interp_key {
	u32 pid;
	u32 walker; /* enum stack_walker */
};

#define LUA_RETURNS_MAX 8

/* A call of Lua's loop. */
struct interp_lua_return {
	s32 at; /* where it returns to, relative to the root */
	u8 reg; /* register of the caller, by DWARF number, that has the lua_State; 0: unknown */
	u8 resumes; /* it continues a coroutine: no other activation runs the functions below */
};

/* PUC Lua: the loop keeps the current CallInfo in a register. */
struct interp_lua {
	u8 minor; /* 5.minor */
	u8 call_reg; /* register of the CallInfo, by DWARF number */
	u8 by_state; /* the native walk does not restore it: the lua_State leads to the CallInfo */
	u8 frame; /* words of a complete frame of the loop; 0: unknown, and so are its calls */
	u8 closure; /* the word in it, from rsp on, that has the running closure */
	u8 n_returns;
	struct interp_lua_return returns[LUA_RETURNS_MAX];
	u8 pc_reg; /* register of the next instruction; LUA_NO_REG: it is always in the CallInfo */
	u8 entry; /* bit of call_status: the outermost frame of an activation of the loop */
	u8 tail; /* bit of call_status: a tail call */
	u8 proto_type; /* type of function prototypes */
	u8 op_mask; /* of instructions: the bits of the operation */
	u8 op_move, op_jump, op_get_upvalue, op_get_global, op_get_field, op_self, op_call,
		op_tail_call;
	u8 a_at, b_at, c_at; /* of instructions: bits where the operands begin */
	u8 key_at; /* of instructions: bit that is set if operand C of op_self is a constant */
	u8 line_sz; /* bytes of an entry of lines */
	u16 b_mask, c_mask;
	u16 c_constant; /* bit of operand C that is set if it is a constant; 0: it always is */
	u16 call_pc, call_status; /* in the CallInfo */
	u16 proto_line, proto_constants, proto_code, proto_upvalues, proto_lines, proto_line_bases,
		proto_locals, proto_source; /* in the prototype; bases: 0: none */
};

#define LUA_NO_REG 255

struct interp_perl {
	u8 minor; /* 5.minor */
	u16 cop, stack_info, main_cv; /* in the interpreter's structure */
	u16 info_contexts, info_previous, info_context, info_type; /* in a PERL_SI */
	u16 context_sz, context_cop, context_return, context_cv; /* in a PERL_CONTEXT */
	u16 cop_line, cop_file; /* in a COP */
	u16 cv_stash, cv_root, cv_name, cv_flags; /* in the body of a CV */
	u16 gp_egv; /* in a GP */
	u16 gv_name, gv_stash; /* in the body of a GV */
	u16 stash_aux, aux_name_count; /* in the body of a stash, and in its aux */
};

struct interp_php {
	u8 minor; /* 8.minor */
	u16 code, n_code, file, first_line; /* in a zend_op_array */
	s32 text; /* the code of the file, relative to the root */
	u32 text_sz;
	u64 rule; /* as in user_walk.h: of the loop's frame, which compiled code runs in */
};

struct interp_ruby {
	u64 rule; /* as in user_walk.h: of a frame of compiled code */
	s32 code; /* the code of the file, relative to the root */
	u32 code_sz;
	s32 context; /* the context's variable, from the thread pointer; 0: the root tells */
	u8 minor; /* 3.minor */
	u8 frame_sz; /* of a control frame */
	u8 code_label, code_first_line, code_path, code_lines, code_n_lines,
		code_index; /* in the body of an iseq */
	u8 first_line_shift; /* bits */
	u8 text; /* where an embedded string begins; 16: its length is in the flags */
	u8 position_late; /* some instructions set the position when they are done */
	/* Whether garbage is collected: the pointer to the virtual machine, relative to the root;
	 * its pointer to the heap; a byte of that, and its bit. 0: not known. */
	u8 in_gc, heap_flags;
	u16 heap;
	u16 running; /* in a ractor: the context that runs */
	s64 machine;
	u64 heap_at; /* of the process; 0: the driver has not read it yet */
};

/* Erlang/OTP: variables lie relative to the root. */
struct interp_beam {
	u8 version; /* of OTP */
	s32 active; /* the_active_code_index */
	s32 atoms; /* segments of the table of atoms */
	s32 key; /* thread-specific key of a scheduler's data */
	u16 current_process; /* in a scheduler's data */
	u16 stop, heap; /* in a process: top of its stack, and its heap, with the end behind it */
	u16 line_table, functions; /* in the header of a module's code */
};

#define NODE_BYTECODES_MAX 256
#define NODE_FRAMES_OPS_MAX 64

/* What has the Isolate of a thread. */
enum node_isolate {
	NODE_ISOLATE_VARIABLE, /* of the program, thread-local */
	NODE_ISOLATE_SLOT, /* the same of a library: root */
	NODE_ISOLATE_KEY, /* a thread-specific key: root */
};

/* V8 of Node.js. Offsets in objects are without the tag of pointers. */
struct interp_node {
	u8 major; /* of V8 */
	u8 builtin_exit; /* type of the frames of builtins in C++ */
	u8 n_function_types;
	u8 function_shared; /* in a JSFunction */
	u8 shared_name, shared_script, shared_literal; /* in a SharedFunctionInfo */
	u8 shared_builtin; /* which of its two words of data has the number of a builtin */
	u8 bytecodes_positions, bytecodes_header; /* in a BytecodeArray */
	u8 code_header; /* bytes before the first instruction */
	u8 code_deopt, code_positions, code_flags, code_size; /* in a Code */
	u8 baseline_kind; /* of code; what optimizing compilers make is above */
	u8 maglev_kind; /* of code; 0: its frames are not known */
	u8 deopt_literals, deopt_shared, deopt_inlined,
		deopt_entries; /* indexes in DeoptimizationData */
	/* Operations of descriptions of frames: the first one of two that begin one, the
	 * one that repeats those of another description; before frames_functions those for
	 * a function. */
	u8 frames_begin, frames_match, frames_functions, n_frames_ops;
	u8 frames_builtins; /* the first one for a builtin function */
	u8 frames_literal; /* a value that is a literal */
	u8 scope_locals; /* index of the first variable in a ScopeInfo */
	u16 vm_state; /* in the Isolate; 0: unknown */
	u8 isolate_in; /* enum node_isolate */
	s32 isolate; /* the Isolate's variable, from the thread pointer */
	/* Types of objects. */
	u16 function_type, shared_type, scope_type, script_type, bytecodes_type, code_type,
		stream_type /* the object that has the instructions */, table_type, array_type;
	u8 frames_operands[NODE_FRAMES_OPS_MAX]; /* by operation: numbers that follow */
	u8 sizes[3 * NODE_BYTECODES_MAX]; /* of bytecodes: normal, wide, extra wide */
};

#define INTERP_JAVA_NO_POSITION 0x10000u /* behind all bytecodes: unknown, or a native method */

/* Java on HotSpot. */
struct interp_java {
	u8 feature; /* the version: 17 */
	u8 bias; /* of the bytes of compressed numbers */
	u8 has_offsets; /* fields are offsets that older versions have as addresses */
	u8 block_sz; /* of the header before a blob */
	u16 header_sz; /* of that and an nmethod */
	u16 heap_memory, heap_segments, heap_shift; /* in a CodeHeap: two memories */
	/* In a CodeBlob, and in an nmethod, from the header before it. */
	u16 name, code, code_end, frame, complete;
	u16 method, method_data, mutable_data, points, points_end, scopes, metadata, deopt,
		deopt_handle, original, id;
	u16 const_method_sz, code_sz, name_index; /* ConstMethod */
	u16 constants_sz, source_index; /* ConstantPool */
};

enum interp_jit {
	INTERP_NO_JIT,
	INTERP_JIT,
	INTERP_JIT_SHARED, /* only in memory that is shared with other processes */
};

struct interp_process {
	u32 walker;
	u32 has_jit; /* enum interp_jit: its code is also in mappings without a file */
	u64 root; /* address where the walk of a thread begins, by language:
		   * Python: the thread-specific key: u32 whether it exists, u32 key
		   * Perl: the thread-specific key, u32
		   * Lua: the loop
		   * PHP: current_execute_data of the executor's globals
		   * Erlang: ranges of the code of modules, by code index
		   * Ruby: the module and offset of the context's variable, for __tls_get_addr
		   * Node.js: the key, or the module and offset, of the Isolate's variable
		   * Java: the pointer to the array of code heaps */
	union {
		struct interp_python python;
		struct interp_lua lua;
		struct interp_perl perl;
		struct interp_php php;
		struct interp_ruby ruby;
		struct interp_beam beam;
		struct interp_node node;
		struct interp_java java;
	};
};

/* Kinds of characters in a text that the driver copies. */
enum interp_text { INTERP_ASCII, INTERP_UCS1, INTERP_UCS2, INTERP_UCS4, INTERP_BYTES };

#endif /* DRIVER_SHARED_INTERP_H */
