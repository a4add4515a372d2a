// node agent_relay.mjs PACKAGE SOCKET: the daemon of agent-relay, as its package comes, without a store.
const { Daemon } = await import(process.argv[2] + '/dist/daemon/server.js');
console.log = console.info = console.warn = console.error = () => {};
const socketPath = process.argv[3];
const daemon = new Daemon({ socketPath, pidFilePath: socketPath + '.pid', storageConfig: { type: 'none' }, cloudSync: false });
await daemon.start();
process.stdout.write('ready\n');
process.stdout.write = () => true;
