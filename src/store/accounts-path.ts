// Where the accounts of a host that several people share are.
import { join } from 'node:path';

export function accountsPath(stateDirectory: string): string {
  return join(stateDirectory, 'accounts.json');
}
