// Runs as a process of its own between us and a server: node keeper.ts <signal> <binary> [...arguments]
// A server knows nothing of the process that started it and would outlive it. The keeper's channel to that process
// closes when it dies, however it dies, and then the keeper ends the server.
import { spawn } from 'node:child_process';

/** How long a server may take to end by itself before it is killed, in milliseconds. */
const graceMs = 5_000;

const [signal, binary = '', ...args] = process.argv.slice(2);
const server = spawn(binary, args, { stdio: ['ignore', 'ignore', 'inherit'] });
server.on('spawn', () => process.send?.(server.pid));
server.on('error', (error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
server.on('exit', (code) => process.exit(code ?? 1));
process.on('disconnect', endServer);
process.on('SIGTERM', endServer);
process.on('SIGINT', endServer);

function endServer(): void {
  server.kill(signal as NodeJS.Signals);
  setTimeout(() => server.kill('SIGKILL'), graceMs).unref();
}
