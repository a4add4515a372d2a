// Talks to a relay through the published client: node agent_relay.mjs CLIENT_JS SOCKET. Prints what happened as JSON.
const { RelayClient } = await import(process.argv[2]);
const socketPath = process.argv[3];
console.log = console.warn = () => {};
const until = async (holds) => {
  for (let tries = 0; tries < 2000 && !holds(); tries++) await new Promise((go) => setTimeout(go, 5));
};
const client = (agentName, more = {}) => {
  const one = new RelayClient({ socketPath, agentName, quiet: true, reconnect: false, ...more });
  one.got = [];
  one.onMessage = (from, payload, id, meta, originalTo) => one.got.push({ from, payload, id, meta, originalTo });
  one.inChannel = [];
  one.onChannelMessage = (from, channel, body) => one.inChannel.push({ from, channel, body });
  one.acks = 0; // which this client takes no notice of
  const processed = one.processFrame.bind(one);
  one.processFrame = (envelope) => { if (envelope.type === 'ACK') one.acks++; processed(envelope); };
  return one;
};
const acknowledged = async (one, act) => {
  const before = one.acks;
  act();
  await until(() => one.acks > before);
};
const told = {};
const alice = client('Alice', { program: 'claude', task: 'review' });
const bob = client('Bob');
const carol = client('Carol', { entityType: 'user', displayName: 'Carol' });
for (const one of [alice, bob, carol]) await one.connect();
told.sessions = [alice, bob, carol].map((one) => typeof one.currentSessionId);

alice.sendMessage('Bob', 'hello', 'message', { n: 1 }, 'thread-1', { importance: 80, replyTo: 'x' });
await until(() => bob.got.length === 1);
told.direct = bob.got[0];
bob.broadcast('all of you');
await until(() => alice.got.length === 1 && carol.got.length === 1);
told.broadcast = [alice.got[0], carol.got[0]].map(({ from, payload, originalTo }) => ({ from, body: payload.body, originalTo }));

for (const one of [alice, bob, carol]) await acknowledged(one, () => one.joinChannel('#general', one.agentName));
await acknowledged(alice, () => alice.adminJoinChannel('#general', 'Dave'));
alice.sendChannelMessage('#general', 'in the channel', { thread: 't', mentions: ['Bob'] });
await until(() => bob.inChannel.length === 1 && carol.inChannel.length === 1);
told.channel = [bob.inChannel, carol.inChannel, alice.inChannel];
carol.leaveChannel('#general');

await acknowledged(carol, () => carol.subscribe('builds'));
alice.send({ v: 1, type: 'SEND', id: 'topic-1', ts: Date.now(), to: '*', topic: 'builds', payload: { kind: 'message', body: 'green' } });
await until(() => carol.got.length === 3); // what is posted in channels counts as well
told.topic = carol.got[2].payload.body;
told.notForOthers = bob.got.length;
alice.sendLog('a line');
alice.bindAsShadow('Bob');

const impostor = client('Alice');
told.impostor = await impostor.connect().then(() => 'let in', (error) => error.message);
impostor.destroy();

const many = 500;
for (let number = 0; number < many; number++) alice.sendMessage('Bob', String(number));
await until(() => bob.got.length === 2 + many);
told.flood = bob.got.slice(2).map((one) => one.payload.body).join() === [...Array(many).keys()].join();
told.ids = new Set(bob.got.map((one) => one.id)).size;

bob.disconnect();
await new Promise((go) => setTimeout(go, 50));
alice.sendMessage('Bob', 'while you were away');
const again = client('Bob');
await again.connect();
await until(() => again.got.length === 1);
told.away = again.got[0].payload.body;
for (const one of [alice, carol, again]) one.destroy();
process.stdout.write(JSON.stringify(told) + '\n');
