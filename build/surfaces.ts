/**
 * The public surfaces of this version, as `npm run release` stores them in `packages/cli/test/released`: within a major version
 * they only grow (docs/upgrade.md).
 */
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CALLBACKS, KINDS, OPERATIONS, openApiDocument } from '@rollcall/protocol'
import { Configuration } from '../packages/admin/src/configuration/file.ts'
import { makeWholeProgram } from '../packages/cli/src/program.ts'
import { makeAdminApiDocument } from '../packages/server/src/http/admin/openapi.ts'
import { ADMIN_ROUTES } from '../packages/server/src/http/admin/routes.ts'
import { commandLineSurface } from './command-lines.ts'
import { readDeclarations } from './compile.ts'
import { declarationSurface } from './declarations.ts'
import { type Direction, type Fact, lost, type Surface, surfaceOf } from './surface.ts'

export const RELEASED = join(import.meta.dirname, '../packages/cli/test/released')

/** Every surface by its name. */
export async function surfaces(): Promise<Readonly<Record<string, Surface>>> {
  const peers = KINDS.map((kind) => {
    const callbacks = CALLBACKS
    const document = openApiDocument(kind, { server_url: '/', operations: OPERATIONS, callbacks })
    return [`peers-${kind.name}`, documentSurface(document)] as const
  })
  return {
    'admin-api': documentSurface(makeAdminApiDocument(ADMIN_ROUTES)),
    'configuration-file': surfaceOf(Configuration, 'rollcall.yaml', 'input'),
    'command-line': commandLineSurface(await makeWholeProgram()),
    'command-output': await commandSurface(),
    outbox: outboxSurface(),
    records: recordSurface(),
    ...typeSurfaces(),
    ...Object.fromEntries(peers),
  }
}

type Json = Readonly<Record<string, unknown>>

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly required?: boolean; readonly schema: Json }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> }
  readonly responses?: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Json }>> }>>
}

/** The surface of an OpenAPI document: its inputs and outputs. What we send in a webhook is an output. */
function documentSurface(document: unknown): Surface {
  const { paths = {}, webhooks = {} } = document as Readonly<
    Record<'paths' | 'webhooks', Readonly<Record<string, Readonly<Record<string, Operation>>>> | undefined>
  >
  const all: Surface[] = []
  const read = (group: typeof paths, sent: Direction, got: Direction): void => {
    for (const [path, methods = {}] of Object.entries(group ?? {})) {
      for (const [method, operation] of Object.entries(methods)) {
        const at = `${method.toUpperCase()} ${path}`
        for (const { name, required = false, schema } of operation.parameters ?? []) {
          const [[, fact] = []] = Object.entries(surfaceOf(schema, at, sent, document))
          if (fact !== undefined) all.push({ [`${at} ?${name}`]: { ...fact, required } })
        }
        for (const { schema } of Object.values(operation.requestBody?.content ?? {})) {
          all.push(surfaceOf(schema, `${at} request`, sent, document))
        }
        for (const [status, { content = {} }] of Object.entries(operation.responses ?? {})) {
          if (!status.startsWith('2')) continue
          for (const { schema } of Object.values(content)) {
            all.push(surfaceOf(schema, `${at} ${status}`, got, document))
          }
        }
      }
    }
  }
  read(paths, 'input', 'output')
  read(webhooks, 'output', 'input')
  return Object.assign({}, ...all)
}

const ADMIN = join(import.meta.dirname, '../packages/admin/src')

/** Functions with another name than in the last release: what their commands write is compared all the same. */
const FORMER_NAMES: Readonly<Record<string, string>> = {
  listAuditEntries: 'listAccounts',
  listAuditSigningKeys: 'listAccountSigningKeys',
  listExampleSearches: 'listExamples',
  listExpiringGrants: 'expiringGrants',
  listProtectedPersons: 'listProtected',
  listSourceRejects: 'sourceRejects',
  pruneStoredData: 'prune',
  showGrantTemplate: 'grantTemplate',
  showOwnParticipant: 'showSelf',
  showSourceStatus: 'sourceStatus',
  traceMessages: 'trace',
  verifyWholeAuditLog: 'verifyAllAccounts',
}

/** Commands print the results of admin functions with `--json` unchanged. */
async function commandSurface(): Promise<Surface> {
  const all: Surface[] = []
  const files = globSync('**/*.ts', { cwd: ADMIN }).filter((name) => !name.includes('.test.'))
  for (const file of files.toSorted()) {
    const exported: object = await import(join(ADMIN, file))
    for (const [name, value] of Object.entries(exported)) {
      if (typeof value === 'function' && 'result' in value && 'input' in value)
        all.push(surfaceOf(value.result, FORMER_NAMES[name] ?? name, 'output'))
    }
  }
  return Object.assign({}, ...all)
}

/** The records in the client's answers. */
function recordSurface(): Surface {
  const records = KINDS.flatMap(({ name, record_types }) =>
    record_types.map((type) => surfaceOf(type.schema, `${name} ${type.name}`, 'output')),
  )
  return Object.assign({}, ...records)
}

/** The files whose exports programs import, by surface. */
const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  'client-types': ['client/src/index.ts', 'client/src/node/index.ts'],
  'protocol-types': ['protocol/src/index.ts'],
}

function typeSurfaces(): Readonly<Record<string, Surface>> {
  const files = readDeclarations(Object.values(ENTRIES).flat())
  return Object.fromEntries(Object.entries(ENTRIES).map(([name, entries]) => [name, declarationSurface(files, entries)]))
}

/** The columns that a registry system may write, from the statements that grant it. */
function outboxSurface(): Surface {
  const folder = join(import.meta.dirname, '../packages/database/src/migrations')
  const facts: Record<string, Surface[string]> = {}
  for (const file of readdirSync(folder).filter((name) => !name.includes('.test.'))) {
    const grants = readFileSync(join(folder, file), 'utf8').matchAll(/grant insert \(([^)]*)\) on rollcall_outbox\.event/g)
    for (const [, columns = ''] of grants) {
      for (const name of columns.split(',').map((column) => column.trim())) {
        facts[`rollcall_outbox.event.${name}`] = { direction: 'input', required: false, types: ['any'], rules: {} }
      }
    }
  }
  return facts
}

/** Writes the surfaces of this version into a folder, as those of the last release. */
export async function writeSurfaces(folder: string = RELEASED): Promise<void> {
  for (const [name, surface] of Object.entries(await surfaces())) {
    const lines = Object.entries(surface)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([path, fact]) => `${JSON.stringify(path)}: ${JSON.stringify(packed(fact))}`)
    writeFileSync(join(folder, `${name}.json`), `{\n${lines.join(',\n')}\n}\n`)
  }
}

type Packed = readonly [
  direction: Direction,
  required: 'required' | 'optional',
  /** The texts of declarations are a list. */
  types: string | readonly string[],
  ...rules: Fact['rules'][],
]

const packed = ({ direction, required, types, rules }: Surface[string]): Packed => [
  direction,
  required ? 'required' : 'optional',
  direction === 'declaration' ? types : types.join(' | '),
  ...(Object.keys(rules).length > 0 ? [rules] : []),
]

/** Reads the surfaces that the last release stored. */
export function readSurfaces(folder: string = RELEASED): Readonly<Record<string, Surface>> {
  const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return Object.fromEntries(
    files.map((file) => {
      const stored = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Readonly<Record<string, Packed>>
      const facts = Object.entries(stored).map(([path, [direction, required, types, rules = {}]]) => [
        path,
        { direction, required: required === 'required', types: typeof types === 'string' ? types.split(' | ') : types, rules },
      ])
      return [file.slice(0, -'.json'.length), Object.fromEntries(facts)]
    }),
  )
}

/** Lists in lines what the surfaces have lost since the last release. */
export async function lostSurfaces(folder: string = RELEASED): Promise<readonly string[]> {
  const now = await surfaces()
  return Object.entries(readSurfaces(folder)).flatMap(([name, released]) =>
    now[name] === undefined ? [`${name} was removed`] : lost(released, now[name]).map((line) => `${name}: ${line}`),
  )
}

if (import.meta.main) await writeSurfaces()
