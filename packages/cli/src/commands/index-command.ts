/** `rollcall index`: compares the indexes that searches need with the existing ones, and builds missing ones. */
import type { planIndexes } from '@rollcall/admin/registries/indexes'
import { adminCommand } from '../admin-command.ts'
import { type CommandGroup, lazyCommand } from '../command-tree.ts'
import { tableFormatter } from '../output.ts'

export const COMMAND_TREE: CommandGroup = {
  about: 'plan and build the indexes that searches need',
  commands: {
    plan: adminCommand(async () => (await import('@rollcall/admin/registries/indexes')).planIndexes, {
      about: 'compare the declared indexes with those that exist',
      args: '[namespace]',
      options: { namespace: { help: 'namespace of one registry (default: all registries)' } },
      notes: 'It changes nothing.',
      examples: ['civil'],
      text: (plans) =>
        tableFormatter(
          'registry record_type finding name advice',
          'no declared index is missing',
        )(plans.flatMap(indexFindingRows)),
    }),
    apply: lazyCommand(
      'backfill the columns and build the missing indexes, while searches and imports continue',
      () => import('./index-apply.ts'),
    ),
  },
}

function indexFindingRows(plan: Awaited<ReturnType<typeof planIndexes>>[number]) {
  const { namespace: registry, record_type, unfilled, missing, foreign } = plan
  const apply = `rollcall index apply ${registry}`
  const line = (finding: string, name: string, advice: string) => ({ registry, record_type, finding, name, advice })
  return [
    ...unfilled.map((name) => line('not filled', name, `not searchable before ${apply}`)),
    ...missing.map(({ index, state }) => line(`index ${state}`, index, apply)),
    ...foreign.map((name) => line('index without a declaration', name, `if nobody needs it: DROP INDEX ${name}`)),
  ]
}
