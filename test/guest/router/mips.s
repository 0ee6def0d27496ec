# A router's image of a few lines, for MIPS: it prints a greeting on its console, echoes what is typed, answers a line with one of its own and
# a prompt, and waits otherwise.
# Built with --defsym STATUS=…, DATA=… (addresses of the console's UART) and UART=1 where that has to be mapped first.
    .set noreorder
    .set mips3
    .text
    .globl _start
_start:
    # The emulator tells idle values of mapped memory alone: 32 MiB of RAM are at 0x60000000, too.
    li $t0, 0x01ffe000
    mtc0 $t0, $5
    li $t0, 0x60000000
    mtc0 $t0, $10
    li $t0, 0x1f
    mtc0 $t0, $2
    li $t0, 0x4001f
    mtc0 $t0, $3
    mtc0 $zero, $0
    tlbwi
.if UART
    # Devices from 0x3c000000 on are at 0x62000000.
    li $t0, 0x62000000
    mtc0 $t0, $10
    li $t0, 0xf00017
    mtc0 $t0, $2
    li $t0, 0xf40017
    mtc0 $t0, $3
    li $t0, 1
    mtc0 $t0, $0
    tlbwi
.endif
    la $t0, main
    li $t1, 0x20000000
    subu $t0, $t0, $t1
    jr $t0
    nop
main:
    # The remote-control device prints what is written to its register 0x40.
    li $s3, 0xb6000000
    la $t0, greeting
1:  lbu $t1, 0($t0)
    beqz $t1, 2f
    addiu $t0, $t0, 1
    b 1b
    sw $t1, 0x40($s3)
2:  li $s1, STATUS
    li $s2, DATA
    la $s0, wait
    li $t1, 0x20000000
    subu $s0, $s0, $t1
wait:
    lbu $t1, 0($s1)
    andi $t1, $t1, 1
    bnez $t1, 3f
    nop
    # Through a register: the emulator looks around only there.
    jr $s0
    nop
3:  lbu $t1, 0($s2)
    sw $t1, 0x40($s3)
    li $t2, 13
    la $t0, answer
    beq $t1, $t2, 1b
    nop
    jr $s0
    nop
greeting:
    .asciz "\r\nA router of the tests is ready.\r\n"
answer:
    .asciz "\r\n% This router knows no commands.\r\nR1#"
