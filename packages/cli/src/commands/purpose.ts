/** `rollcall purpose`: the purposes that consents may name. */
import { addPurpose, listPurposes, removePurpose } from '@rollcall/admin/consents/purposes'
import type { Command } from 'commander'
import { ask } from '../environment.ts'
import { type OutputOptions, print, table, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

export function addCommand(program: Command): void {
  const purpose = program
    .command('purpose')
    .description('manage the purposes that consents may name; grants name some of them')
  withJson(purpose.command('add'))
    .description('add a purpose, or change its text')
    .argument('<code>', 'its code, as consents name it')
    .option('--text <text>', 'what it means, for people')
    .addHelpText('after', "\nExample: rollcall purpose add eligibility --text 'Eligibility for social assistance'")
    .action(runAdd)
  withJson(purpose.command('list'))
    .description('list the purposes')
    .addHelpText('after', '\nExample: rollcall purpose list')
    .action(runList)
  withJson(purpose.command('remove'))
    .description('remove a purpose that no grant names')
    .argument('<code>', 'its code')
    .addHelpText('after', '\nExample: rollcall purpose remove research')
    .action(runRemove)
}

async function runAdd(code: string, { text, ...options }: OutputOptions & { readonly text?: string }): Promise<void> {
  stopRequest()
  const added = await ask(addPurpose, { code, text })
  print(options, added, `consents may name the purpose ${added.code}, where a grant names it`)
}

async function runList(options: OutputOptions): Promise<void> {
  stopRequest()
  const rows = await ask(listPurposes, {})
  print(options, rows, table(['code', 'text'], rows, 'no purposes yet; rollcall purpose add makes one'))
}

async function runRemove(code: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const removed = await ask(removePurpose, { code })
  print(options, removed, `${removed.code} is removed`)
}
