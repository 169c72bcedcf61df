/** `rollcall source schema`: the JSON Schema of a source file, for editors. */
import { SourceFileSchema } from '@rollcall/admin/registries/source-check'
import type { Command } from 'commander'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'

export function defineCommand(command: Command): void {
  withJsonOption(command)
    .addHelpText(
      'after',
      `
Editors use it to complete and to check a source file, for example with
# yaml-language-server: $schema=source.schema.json in its first line.

Example: rollcall source schema`,
    )
    .action((options: OutputOptions) => {
      const whole = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...SourceFileSchema }
      printResult(options, whole, JSON.stringify(whole, null, 2))
    })
}
