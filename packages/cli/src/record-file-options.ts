/** Options of commands that read a file of records. */
import { resolve } from 'node:path'
import { type FormatName, IMPORT_FORMATS } from '@rollcall/admin/records/records'
import { type Command, Option } from 'commander'
import { CommandError } from './failure.ts'
import { readFileOrStdin, readMappingJson } from './input.ts'
import { columnsToDecide } from './mapping-text.ts'

export interface RecordFileOptions {
  readonly format?: FormatName
  readonly map?: string
  readonly delimiter?: string
  readonly header?: boolean
  readonly encoding?: string
  readonly rejects?: string
}

/** Adds the options. @param paths examples of paths in records of the kind that the command reads */
export function addRecordFileOptions(command: Command, paths: string): Command {
  return command
    .addOption(new Option('--format <format>', 'format of the file (default: from its extension)').choices(IMPORT_FORMATS))
    .option('--map <file>', `for CSV: a file with a JSON object {"path": "column"} (docs/import.md); paths such as ${paths}`)
    .option('--delimiter <character>', 'for CSV: the character between cells (default: found out)')
    .option('--encoding <name>', 'for CSV: the encoding, such as windows-1252 (default: found out)')
    .option('--header', 'for CSV: the first row has the names of the columns (default: found out)')
    .option('--no-header', 'for CSV: it has not; columns are called by their number, from 1')
    .option('--rejects <file>', 'file that lists the rejected lines (default: <file>.rejects.ndjson)')
}

/** Reads how to read the file of records. @throws CommandError the file of --map cannot be read, or --rejects is the same file */
export async function readRecordFileOptions({ format, map, delimiter, encoding, header, rejects }: RecordFileOptions) {
  if (map !== undefined && rejects !== undefined && resolve(map) === resolve(rejects)) {
    throw new CommandError('--rejects names the file of --map; name another file')
  }
  const mapping = map === undefined ? undefined : await readMapping(map)
  return {
    ...(mapping !== undefined && { mapping }),
    ...(delimiter !== undefined && { delimiter }),
    ...(header !== undefined && { header }),
    ...(format !== undefined && { format }),
    ...(encoding !== undefined && { encoding }),
  }
}

/** Lists the columns that a proposed mapping leaves to a person; none for a mapping in JSON, which has no comments. */
export async function readColumnsToDecide(map: string | undefined): Promise<readonly string[]> {
  return map !== undefined && YAML_NAME_PATTERN.test(map) ? columnsToDecide(await readFileOrStdin(map, '--map')) : []
}

const YAML_NAME_PATTERN = /\.ya?ml$/i

/** Reads a column mapping: YAML when the file name ends in .yaml or .yml, otherwise JSON. @throws CommandError */
async function readMapping(path: string): Promise<unknown> {
  if (!YAML_NAME_PATTERN.test(path)) return readMappingJson(path)
  const { readYaml } = await import('./yaml.ts')
  return (await readYaml(path, '--map')).value
}
