#!/usr/bin/env node
// Stands in for Dynamips where the real one cannot be made to fail, and answers at once where thousands of commands are counted. As strict as that one
// about words, modules and states. The first argument says what goes wrong.
import { createServer } from 'node:net';

const [, , FAULT] = process.argv;
const words = process.argv.slice(3);
if (words[0] === '-P') {
  if (FAULT === 'hangs') setInterval(() => {}, 1000);
  else {
    const version = FAULT === 'old' ? '0.2.8' : '0.2.14';
    process.stdout.write(
      FAULT === 'strange' ? 'hello\n' : `Cisco Router Simulation Platform (version ${version}-amd64/Linux stable)\n`,
    );
  }
} else {
  const [host, port] = words[words.indexOf('-H') + 1].split(':');
  let state = 'none';
  const commands = {
    'hypervisor working_dir': 1,
    'vm create': 3,
    'vm start': 1,
    'vm stop': 1,
    'vm get_status': 1,
    'vm set_con_tcp_port': 2,
    'vm set_ios': 2,
    'vm set_ram': 2,
    'vm set_nvram': 2,
    'vm set_ram_mmap': 2,
    'vm set_sparse_mem': 2,
    'vm set_clock_divisor': 2,
    'vm set_exec_area': 2,
    'vm set_disk0': 2,
    'vm set_disk1': 2,
    'vm set_config': 2,
    'vm slot_add_binding': 4,
    'vm extract_config': 1,
    'c7200 set_npe': 2,
    'c7200 set_midplane': 2,
    'c7200 set_mac_addr': 2,
    'c7200 set_system_id': 2,
  };
  const answer = (line) => {
    const [module, name, ...given] = [...line.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(
      ([, quoted, plain]) => quoted ?? plain,
    );
    const command = `${module} ${name}`;
    if (!(command in commands)) return `202-Unknown command '${name}'`;
    if (given.length !== commands[command]) return '203-Bad number of parameters';
    if (command === 'vm create') state = 'halted';
    else if (module !== 'hypervisor' && state === 'none') return '208-unable to find VM';
    if (command === 'vm start') {
      if (FAULT === 'refuses') return `209-unable to start VM instance '${given[0]}'`;
      if (FAULT === 'dies') process.exit(3);
      if (FAULT === 'garbage') return '<html>';
      if (FAULT === 'hangsup') return undefined;
      state = 'running';
    }
    if (command === 'vm extract_config') return '206-no configuration';
    return '100-OK';
  };
  const server = createServer((socket) => {
    let rest = '';
    socket.on('error', () => {});
    socket.on('data', (part) => {
      rest += part;
      const lines = rest.split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const text = answer(line);
        if (text !== undefined) socket.write(`${text}\r\n`);
      }
    });
  });
  process.on('SIGTERM', () => process.exit(0));
  if (FAULT !== 'mute')
    server.listen(Number(port), host, () => process.stdout.write('Hypervisor TCP control server started\n'));
  else process.exit(5);
}
