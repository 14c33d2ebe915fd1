/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The state of a walk of a user stack, and the functions that read memory for it: the driver
 * (walk_memory.bpf.h) and user space, for deferred stacks, each define their own. */
#ifndef DRIVER_SHARED_WALK_STATE_H
#define DRIVER_SHARED_WALK_STATE_H

#include "shared/record.h"
#include "shared/stack.h"
#include "shared/unwind_table.h"

#define WALK_WINDOW 4096u /* bytes of stack per read, at most a page */
#define WALK_REGS 16
#define WALK_NODE_SZ 1024u
#define NODE_SEEN 8 /* functions of Node.js that a walk does not read again; a power of two */
#define NODE_INLINED_MAX 16 /* functions at an address of Node.js; a power of two */
/* Results of walk_script. */
#define WALK_AGAIN 2 /* the activation has more frames */
#define WALK_STEPPED 3 /* the walk is at the caller: walk_to_caller */
#define WALK_CODES_MAX 256 /* maximum number of new code objects of a walk */
#define WALK_CODE_SLOTS 256
#define WALK_SCRIPT_SZ 256u /* bytes of an interpreter's objects per read */
#define WALK_PYTHON_STATES 4 /* maximum number of other states of a thread; a power of two */
#define WALK_JAVA_HEAPS 4 /* maximum number of heaps of compiled code */
#define WALK_LUA_STATES 4 /* a power of two */
#define WALK_JAVA_FUNCTIONS 8 /* maximum number of methods of a place */
#define WALK_JAVA_CHECKED 16 /* a power of two */
#define WALK_JAVA_HEADER_SZ 512u
#define WALK_SWITCHES_MAX                                                                          \
	4 /* maximum number of changes of the stack; a walk in circles makes more */

/* A text in the memory of the process, or a copy. */
struct script_text {
	u64 at; /* address of the characters; 0: none */
	u64 len; /* bytes */
	u8 kind; /* enum interp_text */
	u8 is_copy; /* a walker has put it together: a name in node.bytes of the walk, a file in its
		       window */
};

/* What names the frames of a code object. */
struct script_content {
	struct script_text name, file;
	struct script_text lines; /* or the package or class: see each language */
	struct script_text bases; /* what the lines refer to */
	u32 first_line; /* Erlang: the arity; Node.js: the number in the script, from 1; 0: none */
	u8 version; /* minor */
	u8 is_part; /* some of the bytes could not be read */
};

/* What the code of Java at an address is: what its blob says, and the methods that are there. */
struct walk_java_place {
	u64 process, pc; /* the key: java_key */
	u64 scope; /* and where the methods begin, of more than one place has; 0: the innermost */
	u64 more; /* the scope where they go on; 0: these are all */
	u64 blob, print; /* print: differs for another blob at its address */
	u64 code, end; /* of the blob's code */
	u64 deopt, deopt_handle; /* where frames return to that are deoptimized */
	s32 original; /* in such a frame: its return address */
	s32 complete; /* offset in the code where the frame is complete; negative: unknown */
	u32 frame; /* words */
	u16 kind; /* of the blob: walk_java.bpf.h */
	u16 n;
	struct {
		u64 method;
		u32 position, check;
	} functions[WALK_JAVA_FUNCTIONS]; /* innermost first */
};

struct walk_java_method {
	u64 process, method; /* the key */
	u64 at, constants, ids, cache; /* ConstMethod, ConstantPool, sizes and indexes of the
					  former, cache of the latter */
	u32 n_bytecodes, check;
};

struct user_walk {
	/* In, and then the state of the current frame. */
	u64 ip, sp, bp;
	u32 pid; /* the process */
	u32 max; /* maximum number of frames, at most STACK_USER_MAX */
	u32 level; /* depth of nesting of the program that walks */
	u32 other; /* number of this walk of a thread that is not the current one; 0: it is */
	u64 missed; /* address of the first page that such a walk lacked; 0: none */
	/* Out. */
	u32 n; /* frames */
	u32 end; /* enum stack_end */
	u64 fault; /* with STACK_END_FAULT: the address */
	u64 scratch; /* for values that the verifier shall not track: widen_in */
	u64 frames[STACK_USER_MAX]; /* addresses, and how they were found: stack.h */
	/* In: registers by DWARF number, and which of them are valid. sp and bp are above. */
	u64 regs[WALK_REGS];
	u32 known;
	u64 tls; /* In: the thread pointer; 0: unknown */
	u64 space; /* In: a number of the address space */
	/* In: the mappings of the process. None: walk by frame pointers alone. */
	u32 maps, n_maps; /* place */
	u32 gen;
	/* Internal state. */
	u64 rule; /* of ip */
	u32 exact; /* ip is not a return address */
	u32 switches;
	u32 go_switches; /* Go's switches that were followed */
	u32 n_cached, n_searched; /* addresses found in the cache, and not found */
	u64 window_at;
	u32 window_sz; /* 0: empty */
	u32 scripts; /* bits of walkers that have begun */
	u64 script[STACK_WALKER_ROOM]; /* by walker: where it continues in the next frame of its
					  loop */
	u64 script_frame; /* where an activation with more frames continues; 0: at its first one */
	u32 script_n; /* n before that activation */
	u32 joins; /* In: the walker whose first activation has the frames of the next one, too:
		      script_joins */
	/* Of Lua: the states that the walk has come through, and where each continues. */
	struct {
		u64 state[WALK_LUA_STATES], next[WALK_LUA_STATES];
		u64 call, current, closure; /* of the activation that begins */
		u32 n; /* number of states so far; later ones replace earlier ones */
		u32 slot; /* of the activation's state */
		u32 resumed; /* the activation continues a coroutine */
		u32 returned; /* the function of the loop's frame has returned */
	} lua;
	/* Of Python: the thread state of PyGILState, and where other states of the thread continue.
	 * The search for these: the next interpreter and state. */
	struct {
		u64 own, others[WALK_PYTHON_STATES];
		u64 interp, state;
		u64 stop; /* the first frame of the next activation, if the innermost one may not
			     have its own mark yet; 0: unknown */
		u32 n_others, n_tried, n_searched;
		u32 search; /* enum python_search */
	} python;
	/* Of Perl: the current COP and its caller's, the PERL_SI and its contexts, the next one. */
	struct {
		u64 cop, caller, info, contexts;
		s64 context; /* negative: no more */
		u32 bottom; /* type of the first one */
		u64 name, package; /* of a subroutine that is sent */
	} perl;
	/* Of Ruby: the context and its newest frame; whether the walk began at the activation
	 * before that of this frame, if it has run no instruction; or at one that has removed its
	 * frames. */
	struct {
		u64 context, newest;
		u32 is_early, is_over;
	} ruby;
	/* Of Erlang: an address of code, a checksum of what is loaded, the ranges of modules, and
	 * the end of the stack; a place in a table and the entries from there on, and the module
	 * and its tables of lines. */
	struct {
		u64 pc, check, modules, end;
		u64 low, left, code, lines;
		u32 n_modules, n; /* n: addresses that were searched; bytes of a text */
		u32 tag, ends; /* bits of words that are no addresses; how the stack ends */
	} beam;
	/* Of Node.js: what belongs to the frame that the walk is at. */
	struct {
		u64 callee, shared, identity; /* the function: a JSFunction, its SharedFunctionInfo,
						 and a checksum of that */
		struct walk_node_seen {
			u64 function, shared, identity;
		} seen[NODE_SEEN]; /* earlier in this walk, by hash */
		u64 bytecodes; /* BytecodeArray of an interpreter's or baseline frame */
		u64 pc; /* where the function is, or the BytecodeArray */
		u64 offset; /* as the interpreter's frame has it; in compiled code */
		u64 code, deopt, calls; /* of compiled code: the Code, its DeoptimizationData, the
					   table of its calls */
		u64 at; /* where code is searched from, downwards */
		u64 found; /* the object with the instructions; 0: none */
		u64 position; /* in the source, with the inlining */
		u64 script; /* of the function that was read last */
		u64 text, text_len; /* a string that was read last: first character, characters */
		u32 text_wide; /* two bytes per character */
		u32 check; /* of the function that was read last */
		u32 phase, tried, n_inlined;
		u32 work; /* of the walk so far */
		u8 is_builtin, is_compiled, is_optimized;
		u8 is_maglev;
		u8 is_plain; /* without a position */
		u8 is_partial; /* lines are still unknown */
		u8 is_missing; /* something cannot be read, or is not supported */
		struct {
			u64 at;
			u32 sz;
		} streams[2]; /* what bytes has of tables, a half for each */
		struct { /* a table that is read */
			u64 at, end; /* bytes of the table */
			u64 searched; /* offset in the code */
			s64 code, position; /* of the current pair */
			u64 value;
			u32 shift;
			u32 is_position;
			u32 next; /* bytecode */
		} table;
		struct { /* a description of frames that is read: node_frames.bpf.h */
			u64 begin, previous;
			u32 op, operand, left; /* the operation; numbers that follow */
			u32 since, skip, repeat; /* operations, of the previous description */
			u32 is_previous, is_builtin; /* is_builtin: the last function is one */
			u32 n, n_all; /* functions */
			s32 bytecode[NODE_INLINED_MAX]; /* offset */
			u32 function[NODE_INLINED_MAX]; /* index of a literal */
		} frames;
		struct { /* lines that are counted */
			u64 sz; /* bytes of the source */
			u64 cr; /* the bit of a CR before the next word */
			u32 piece; /* bytes in the window */
			u32 n, before; /* ends of lines; before the current block */
			u32 budget; /* blocks that may be counted */
		} lines;
		struct {
			u64 code, at, file; /* as in struct walk_code */
			u32 position, check;
		} function; /* that a place gets */
		u8 bytes[WALK_NODE_SZ]; /* of tables, or a name */
	} node;
	/* Of Java. */
	struct {
		struct walk_java_heap {
			u64 low, high, segments;
			u64 shift; /* size of a segment, log2 */
		} heaps[WALK_JAVA_HEAPS], heap;
		u64 heaps_of; /* the process whose heaps these are; 0: none */
		u64 heaps_at, heaps_n, heaps_data; /* the array of them, as it was read */
		u64 loop, loop_end; /* the interpreter; 0: not found yet */
		u32 n_heaps;
		u64 at; /* a segment */
		/* What was read from the process in this walk, and is as it was when it was kept.
		 */
		u64 walk; /* number of the walk */
		struct {
			u64 at, print, walk;
		} checked[WALK_JAVA_CHECKED];
		struct walk_java_place place; /* of the frame */
		struct walk_java_method method; /* that was read last */
		/* Tables of the compiled method that was read last. */
		u64 points, points_end, scopes, metadata;
		/* The search for a point, and the scope that is read. */
		u32 number[3];
		u64 first, n_points, scope;
		u8 header[WALK_JAVA_HEADER_SZ]; /* of a blob, from the block that it lies in */
	} java;
	/* Out: code objects of the stack whose names were not sent yet. */
	u32 n_codes;
	struct walk_code {
		u64 code, tag; /* tag: as in the driver's table of those that were sent */
		u64 at, file; /* what names it: Lua: a CallInfo; Perl: a CV, and the name of a file;
				  PHP: a zend_op_array; Ruby: the body of an iseq;
				  Node.js: a SharedFunctionInfo; Java: a Method */
		u32 check, walker;
	} codes[WALK_CODES_MAX];
	u8 code_slots[WALK_CODE_SLOTS]; /* by hash of the tag: the index of the last such code */
	struct script_content content; /* of the code object that is sent */
	/* A read of another process: of sz bytes at an address to a place in this structure. */
	struct {
		u64 at, sz, to;
	} read;
	/* Scratch of the walker. */
	u64 word;
	u8 object[WALK_SCRIPT_SZ];
	u8 window[WALK_WINDOW];
	u8 slack[WALK_WINDOW]; /* for the verifier: behind any place in the window */
};

/* Takes one use of something that is searched again after *left of them; 0: never. Returns whether
 * that is now. It stays so until it was replaced: the search may fail, or another CPU be first. */
static inline int walk_is_due(u32 *left)
{
	const u32 now = *(volatile u32 *)left;

	if (now > 1)
		*(volatile u32 *)left = now - 1;
	return now == 1;
}

/* Reads stack memory into w->window. Returns 0, or not 0 if it is not there. */
static int walk_fill(struct user_walk *w, u32 sz, u64 addr);
/* Returns a chunk of the tables; NULL: there is none. */
static const u64 *walk_chunk(const struct user_walk *w, u32 chunk);
/* Appends the frames that an interpreter's loop runs, innermost first, with walk_put_script; the
 * walk is at the native frame of the loop. Returns 0; WALK_AGAIN: call it again; WALK_STEPPED: the
 * walker knows the caller and has gone there; 1: the walk ends. */
#if defined(__bpf__) || defined(WALK_SCRIPTS)
static int walk_script(struct user_walk *w, u32 walker);
#else /* only native frames are needed */
static inline int walk_script(struct user_walk *w, u32 walker)
{
	(void)w;
	(void)walker;
	return 0;
}
#endif

/* Finds where the code of a probe continues, and puts it into w->ip, w->sp and w->exact. Returns
 * not 0 if that is unknown. */
#if defined(__bpf__) || defined(WALK_PROBES)
static int walk_probe(struct user_walk *w);
#else /* the kernel has the probes of a thread only while it exists */
static inline int walk_probe(struct user_walk *w)
{
	(void)w;
	return -1;
}
#endif

#endif /* DRIVER_SHARED_WALK_STATE_H */
