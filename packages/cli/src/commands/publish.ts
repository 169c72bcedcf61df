/** `rollcall publish`: says that an event has happened to a record. */

import { publishEvent } from '@rollcall/admin/events/publish'
import { isJsonObject, type JsonObject, type JsonValue } from '@rollcall/protocol'
import type { Command } from 'commander'
import { counted } from '../asking/summary.ts'
import { withOwnDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { parsedJson, readInput } from '../input.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { instant, wholeNumber } from '../values.ts'

export function addCommand(program: Command): void {
  withJson(program.command('publish'))
    .description('publish an event: write the record, and notify who has subscribed to it')
    .argument('<namespace>', 'namespace of the registry')
    .requiredOption('--event <type>', 'type of the event, such as LiveBirth, CANCEL or CORRECTION')
    .requiredOption(
      '--record <file>',
      'file with the record in JSON, or with its members that are new; - for standard input',
    )
    .option('--record-type <type>', "record type (default: the record's @type)")
    .option('--event-id <id>', 'id of the event in your own system: publishing it again changes nothing')
    .option('--occurred-at <time>', 'when it happened (default: now)', instant)
    .option(
      '--source-version <number>',
      'version of the record in your own system: an older one does not overwrite a newer one',
      wholeNumber(0),
    )
    .option('--replace', 'the record takes the place of the stored one; otherwise it is merged into it')
    .option(
      '--remove <file>',
      'file with elements to take out of lists, in JSON by the path of the list; - for standard input',
    )
    .option('--corrects <id>', 'with CANCEL and CORRECTION: the --event-id of the earlier event')
    .addHelpText(
      'after',
      `
Exactly this event is published, and nothing is derived from the change. docs/events.md says how records are merged.

Example: rollcall publish civil --event Death --record death.json --event-id crvs-2026-118`,
    )
    .action(runPublish)
}

interface PublishOptions extends OutputOptions {
  readonly event: string
  readonly record: string
  readonly recordType?: string
  readonly eventId?: string
  readonly occurredAt?: Date
  readonly sourceVersion?: number
  readonly replace?: true
  readonly remove?: string
  readonly corrects?: string
}

async function runPublish(namespace: string, options: PublishOptions): Promise<void> {
  stopRequest()
  if (options.record === '-' && options.remove === '-') {
    throw new CommandError('only one of --record and --remove may be read from standard input')
  }
  const record = await objectIn(options.record, '--record')
  const remove = options.remove === undefined ? undefined : await objectIn(options.remove, '--remove')
  const { id, matched } = await withOwnDatabase(({ config: { limits }, ...needs }) =>
    // The call checks that every path has a list.
    publishEvent(
      { ...needs, limits },
      { namespace, ...inputOf(options), record, remove: remove as Record<string, JsonValue[]> | undefined },
    ),
  )
  print(options, { id, matched }, `event ${id}: ${counted(matched, 'subscription')} matched`)
}

/** The object in the file of an option. */
async function objectIn(file: string, option: string): Promise<JsonObject> {
  const value = parsedJson(`the file of ${option}`, await readInput(file, option))
  if (!isJsonObject(value)) throw new CommandError(`the file of ${option} must hold a JSON object`)
  return value
}

const inputOf = (options: PublishOptions) => ({
  reg_event_type: options.event,
  record_type: options.recordType,
  event_id: options.eventId,
  occurred_at: options.occurredAt?.toISOString(),
  source_version: options.sourceVersion,
  replace: options.replace,
  corrects: options.corrects,
})
