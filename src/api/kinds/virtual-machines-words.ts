// Texts for the settings that only nodes of VirtualBox and VMware have; loaded only for the API document.
import { type GroupedWords, words } from './words.ts';

export const virtualMachineWords: GroupedWords = {
  Machine: {
    vmname: words('Machine', 'Its name in VirtualBox.'),
    vmx_path: words('Machine', 'Path of its .vmx file.'),
  },
  Network: {
    use_any_adapter: words('Take over adapters', 'Also adapters that something else on the host uses.'),
  },
  More: {
    headless: words('Without a window', 'Its program shows no window on the host.'),
  },
};

export const virtualboxWords: GroupedWords = {
  ...virtualMachineWords,
  Machine: {
    ...virtualMachineWords['Machine'],
    ram: words('Memory', "0 leaves the machine's own.", { unit: 'MiB' }),
  },
};
