# Takes the bytes of the object out of a skeleton of bpftool: NAME__create_skeleton then sets none.
/^static inline const void \*[a-z_]*__elf_bytes(size_t \*sz);/d
s/(void \*)[a-z_]*__elf_bytes(&s->data_sz)/NULL/
/^static inline const void \*[a-z_]*__elf_bytes(size_t \*sz)$/,/^}/d
