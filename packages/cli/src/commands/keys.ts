/** `rollcall keys`: manages our own keys, and the master key that encrypts them. */
import { adminCommand } from '../admin-command.ts'
import { type CommandGroup, lazyCommand } from '../command-tree.ts'
import { tableFormatter, tableText } from '../output.ts'

const loadOwnKeyActs = () => import('@rollcall/admin/operators/own-keys')

export const COMMAND_TREE: CommandGroup = {
  about: 'manage our own keys (docs/keys.md)',
  commands: {
    list: adminCommand(async () => (await loadOwnKeyActs()).listOwnKeys, {
      about: 'list our own keys: sig signs messages, enc decrypts messages, token signs access tokens',
      notes: 'States: next, published and not yet in use; active; retired, still good until the time shown; revoked.',
      examples: ['--json'],
      text: tableFormatter(
        'kid use algorithm state since good_until',
        'no keys yet; the first start of a server creates them',
        ({ revoked_at, retired_at, activated_at, created_at, ...key }) => ({
          ...key,
          since: revoked_at ?? retired_at ?? activated_at ?? created_at,
        }),
      ),
    }),
    rotate: adminCommand(async () => (await loadOwnKeyActs()).rotateOwnKeys, {
      about: 'start to use the next keys; running servers use them within a second and refuse no message',
      options: { use: { help: 'only keys of this use (default: all)' } },
      examples: ['--use sig'],
      deps: async () => ({ cached: (await loadOwnKeyActs()).KEY_SET_CACHE_SECONDS }),
      text: (rotated, _, { cached }) => {
        const rows = tableText(
          ['use', 'algorithm', 'active', 'retired'],
          rotated.map((row) => ({ ...row })),
          '',
        )
        const known = Math.min(...rotated.map(({ published_for }) => published_for))
        if (known >= cached) return rows
        return [
          rows,
          `These keys were published ${known} s ago. Peers may use an older key set for ${cached} s,`,
          'and peers that do not fetch it again for an unknown key refuse our messages until then.',
        ].join('\n')
      },
    }),
    revoke: adminCommand(async () => (await loadOwnKeyActs()).revokeOwnKey, {
      about: 'revoke a key: within a second no server accepts it, and its private half is erased',
      args: 'kid',
      notes: 'The next key replaces an active one. This cannot be undone. Write -- before a kid that begins with -.',
      examples: ['NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs'],
      text: ({ kid }) => `${kid} is revoked`,
    }),
    'rotate-master': lazyCommand(
      'replace the master key, and encrypt all values again with the new one',
      () => import('./keys-rotate-master.ts'),
    ),
    probe: lazyCommand(
      'find the signature profile of a message: which layout, canonical form, digest and key verify it',
      () => import('./keys-probe.ts'),
    ),
  },
}
