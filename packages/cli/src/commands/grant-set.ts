/** `rollcall grant set`: gives a participant a grant in a registry, from a file or a template. */
import { setGrant } from '@rollcall/admin/grants/grant-changes'
import { GRANT_TEMPLATES, showGrantTemplate } from '@rollcall/admin/grants/grants'
import { type Command, Option } from 'commander'
import { callWithDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { suspendedSubscriptionsText } from '../grant-text.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { readYaml } from '../yaml.ts'

export function defineCommand(command: Command): void {
  withJsonOption(command)
    .argument('<sender_id>', 'sender_id of the participant')
    .argument('<namespace>', 'namespace of the registry')
    .option('--file <file>', 'the grant in YAML or JSON; - for standard input')
    .addOption(
      new Option('--template <name>', 'a grant that is often made')
        .choices(GRANT_TEMPLATES.map(({ name }) => name))
        .conflicts('file'),
    )
    .option('--beside', 'leave the grants of other times; this one begins at its valid_from')
    .addHelpText(
      'after',
      `
Templates:
${GRANT_TEMPLATES.map(({ name, description }) => `  ${name.padEnd(18)}${description}`).join('\n')}

docs/grants.md explains every member of a grant.

Example: rollcall grant set spmis.example.org civil --file grant.yaml
Example: rollcall grant set spmis.example.org civil --template eligibility`,
    )
    .action(runSet)
}

interface SetOptions extends OutputOptions {
  readonly file?: string
  readonly template?: string
  readonly beside?: true
}

/** The terms of a grant (what it allows), as a file has them. `setGrant` checks them. */
type UncheckedTerms = Parameters<typeof setGrant>[1]['terms']

async function runSet(sender_id: string, namespace: string, { file, template, beside, ...options }: SetOptions): Promise<void> {
  listenForStop()
  const set = (terms: UncheckedTerms) => callWithDatabase(setGrant, { sender_id, namespace, beside, terms })
  const added = await (template === undefined
    ? setGrantFromFile(file, set)
    : set(await callWithDatabase(showGrantTemplate, { namespace, template })))
  const { version, valid_from, valid_until } = added
  const until = valid_until === null ? '' : ` until ${valid_until}`
  const text = `granted to ${sender_id} in ${namespace} from ${valid_from}${until}; rollcall grant explain says what it means. Its version is ${version}, in one count of all grants`
  printResult(options, added, [text, ...suspendedSubscriptionsText(added)].join('\n'))
}

async function setGrantFromFile<Result>(
  file: string | undefined,
  set: (terms: UncheckedTerms) => Promise<Result>,
): Promise<Result> {
  if (file === undefined) throw new CommandError('--file or --template is needed')
  const { value, refusedWithLine } = await readYaml(file, '--file')
  return refusedWithLine(() => set(value as UncheckedTerms), ['terms'])
}
