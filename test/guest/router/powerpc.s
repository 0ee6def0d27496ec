# The same for PowerPC. Built with --defsym UART_HIGH=… (upper half of the UART's address).
    .text
    .globl _start
_start:
    lis 3, 0xf600
    lis 4, greeting@ha
    addi 4, 4, greeting@l
1:  lbz 5, 0(4)
    cmpwi 5, 0
    beq 2f
    stw 5, 0x40(3)
    addi 4, 4, 1
    b 1b
2:  lis 6, UART_HIGH
    lis 7, wait@ha
    addi 7, 7, wait@l
    mtlr 7
wait:
    lbz 5, 5(6)
    andi. 5, 5, 1
    bne 3f
    # Through a register: the emulator looks around only there.
    blr
3:  lbz 5, 0(6)
    stw 5, 0x40(3)
    blr
greeting:
    .asciz "\r\nA router of the tests is ready.\r\n"
