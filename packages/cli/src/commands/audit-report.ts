/** `rollcall audit person --report`: an answer to a person's question who has seen the data. */
import { reportAccess } from '@rollcall/admin/accounts/access-report'
import { ask } from '../environment.ts'
import { writeNew } from '../new-file.ts'
import { type OutputOptions, print } from '../output.ts'

type Person = Parameters<typeof reportAccess>[1]

/** @throws CommandError a file is there already, or cannot be written */
export async function writeReport(person: Person, file: string, options: OutputOptions): Promise<void> {
  const json = `${file.replace(/\.html?$/, '')}.json`
  const { html, report } = await ask(reportAccess, person)
  for (const [path, text] of [
    [file, html],
    [json, `${JSON.stringify(report, null, 2)}\n`],
  ] as const) {
    await writeNew(path, text)
  }
  print(options, { files: [file, json] }, `written: ${file} to be read, ${json} for programs`)
}
