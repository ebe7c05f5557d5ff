/* The bytecode as a part of the program. */
__asm__(".section .rodata\n"
        ".balign 64\n"
        ".global fleet_module\n"
        "fleet_module: .incbin \"model.fbc\"\n"
        ".global fleet_module_end\n"
        "fleet_module_end: .byte 0\n"
        ".previous\n");

/* A translation unit needs a declaration. */
extern const unsigned char fleet_module[];
