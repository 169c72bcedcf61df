/** `rollcall publish`: publishes an event that has happened to a record. */

import { isJsonObject, type JsonObject, type JsonValue } from '@rollcall/protocol'
import { adminCommand } from '../admin-command.ts'
import { CommandError } from '../failure.ts'
import { parseJsonText, readFileOrStdin } from '../input.ts'
import { countWithNoun } from '../output.ts'

/** Makes an option whose value is the path of a file with a JSON object. The command's `input` function reads the file. */
const jsonFileOption = (flags: string, help: string) => ({ flags, help, read: (path: string) => path })

export const COMMAND_TREE = adminCommand(async () => (await import('@rollcall/admin/events/publish')).publishEvent, {
  about: 'publish an event: write the record, and notify who has subscribed to it',
  args: 'namespace',
  options: {
    reg_event_type: { flags: '--event <type>', help: 'type of the event, such as LiveBirth, CANCEL or CORRECTION' },
    record: jsonFileOption(
      '--record <file>',
      'file with the record in JSON, or with its members that are new; - for standard input',
    ),
    record_type: { help: "record type (default: the record's @type)" },
    event_id: { help: 'id of the event in your own system: publishing it again changes nothing' },
    occurred_at: { help: 'when it happened (default: now)' },
    source_version: { help: 'version of the record in your own system: an older one does not overwrite a newer one' },
    replace: { help: 'the record takes the place of the stored one; otherwise it is merged into it' },
    remove: jsonFileOption(
      '--remove <file>',
      'file with elements to take out of lists, in JSON by the path of the list; - for standard input',
    ),
    corrects: { help: 'with CANCEL and CORRECTION: the --event-id of the earlier event' },
  },
  notes: 'Exactly this event is published, and nothing is derived from the change. docs/events.md says how records are merged.',
  examples: ['civil --event Death --record death.json --event-id crvs-2026-118'],
  adds: true,
  input: async ({ record, remove }: { readonly record: unknown; readonly remove?: unknown }) => {
    const read = await readJsonObjectFile(record, '--record')
    if (remove === undefined) return { record: read }
    // The file has, by the path of a list in the record, the elements to take out. The admin function checks the file's form.
    return { record: read, remove: (await readJsonObjectFile(remove, '--remove')) as Record<string, JsonValue[]> }
  },
  text: ({ id, matched }) => `event ${id}: ${countWithNoun(matched, 'subscription')} matched`,
})

/** Reads the JSON object in the file of an option. */
async function readJsonObjectFile(path: unknown, option: string): Promise<JsonObject> {
  const value = parseJsonText(`the file of ${option}`, await readFileOrStdin(String(path), option))
  if (!isJsonObject(value)) throw new CommandError(`the file of ${option} must hold a JSON object`)
  return value
}
