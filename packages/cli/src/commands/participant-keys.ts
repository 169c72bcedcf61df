/** `rollcall participant key` and `host`: the public keys of participants, and hosts that our requests may reach. */
import { adminCommand } from '../admin-command.ts'
import type { CommandGroup } from '../command-tree.ts'
import { tableFormatter } from '../output.ts'

const loadParticipantKeyActs = () => import('@rollcall/admin/participants/keys')
const loadPolicyActs = () => import('@rollcall/admin/participants/policy')

const EXAMPLE_SENDER_ID = 'spmis.example.org'

export const KEY_COMMAND_GROUP: CommandGroup = {
  about: 'manage the public keys of participants',
  commands: {
    add: adminCommand(async () => (await loadParticipantKeyActs()).addParticipantKeys, {
      about: 'register public keys of a participant; servers accept them within a second',
      args: 'sender_id keys',
      options: {
        keys: { help: 'file with a public key in PEM, a JWK or a JWK set; - for standard input' },
        use: { help: "sig or enc (default: the JWK's use, else what its algorithm is for)" },
        valid_from: '--from <time>',
        valid_until: {
          flags: '--until <time>',
          help: 'time until which the keys are valid; never for no end (default)',
          none: 'never',
        },
      },
      reads: ['keys'],
      notes: 'A private key is refused. A key that is registered already gets the new kid, use and times.',
      examples: [`${EXAMPLE_SENDER_ID} public-key.pem --kid 2026-07`],
      text: (added, { sender_id }) =>
        added.map(({ kid, use, algorithm }) => `${sender_id} has key ${kid} (${use}, ${algorithm})`).join('\n'),
    }),
    list: adminCommand(async () => (await loadParticipantKeyActs()).listParticipantKeys, {
      about: 'list the keys that were registered for a participant',
      args: 'sender_id',
      notes: 'States: live; later, not valid yet; over, not valid any more; revoked. Keys that a jwks_uri lists are not shown.',
      examples: [`${EXAMPLE_SENDER_ID} --json`],
      text: tableFormatter(
        'kid use algorithm state valid_from valid_until thumbprint',
        'no keys yet; rollcall participant key add registers one',
      ),
    }),
    revoke: adminCommand(async () => (await loadParticipantKeyActs()).revokeParticipantKey, {
      about: 'revoke a key for ever; within a second no server accepts it',
      args: 'sender_id kid',
      notes: 'Write -- before a kid that begins with -, such as: spmis.example.org -- -x7Jk.',
      examples: [`${EXAMPLE_SENDER_ID} 2026-07`],
      text: ({ kid }, { sender_id }) => `key ${kid} of ${sender_id} is revoked`,
    }),
  },
}

type AllowedHost = Awaited<ReturnType<Awaited<ReturnType<typeof loadPolicyActs>>['listParticipantHosts']>>[number]

const hostsText = tableFormatter(
  'host ports plain_http loopback private',
  'https to port 443 on the public network, and nothing else',
  ({ host, ports = [443], plainHttp = false, loopback = false, private: isPrivate = false }: AllowedHost) => ({
    host,
    ports,
    plain_http: plainHttp,
    loopback,
    private: isPrivate,
  }),
)

export const HOST_COMMAND_GROUP: CommandGroup = {
  about: 'manage hosts of participants that are not on the public network, or not at port 443',
  commands: {
    allow: adminCommand(async () => (await loadPolicyActs()).allowParticipantHost, {
      about: 'allow requests to a host of a participant; this replaces what was allowed for that host',
      args: 'sender_id host',
      options: { ports: { flags: '--port <port...>', help: 'ports, or any (default: 443)' } },
      notes: `
Some addresses are always refused: those of cloud metadata (169.254.169.254), of link-local and of multicast
networks, and 0.0.0.0, for example.`,
      examples: [`${EXAMPLE_SENDER_ID} spmis.internal --private --port 8443`],
      text: hostsText,
    }),
    list: adminCommand(async () => (await loadPolicyActs()).listParticipantHosts, {
      about: 'list the hosts that are allowed for a participant',
      args: 'sender_id',
      examples: [EXAMPLE_SENDER_ID],
      text: hostsText,
    }),
    remove: adminCommand(async () => (await loadPolicyActs()).removeParticipantHost, {
      about: 'remove a host that was allowed',
      args: 'sender_id host',
      examples: [`${EXAMPLE_SENDER_ID} spmis.internal`],
      text: hostsText,
    }),
  },
}
