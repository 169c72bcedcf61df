/** Shows a search as search_criteria, as shell commands, and as a TypeScript program. */
import {
  DEFAULT_SIGNATURE_PROFILE,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  PROTOCOL_VERSION,
  type SignatureProfile,
  TOKEN_PATH,
} from '@rollcall/protocol'

/** The placeholder for the private key in a shown program. Our pages never have the key. */
export const KEY_PLACEHOLDER = 'A file with your private key as a JWK.'

/** The query forms that the try-out page can send and show as programs. */
export const TRY_OUT_QUERY_FORMS = ['identifier', 'expression', 'predicate', 'graphql'] as const

/** A query with its form, one of `TRY_OUT_QUERY_FORMS`. */
export interface QueryWithForm {
  readonly name: (typeof TRY_OUT_QUERY_FORMS)[number]
  readonly query: JsonValue
}

interface QueryFormWriters {
  /** Returns the members of search_criteria that hold the query. */
  readonly criteria: (query: JsonValue, record_type: string) => JsonObject
  /** Returns the query for `client.search` as TypeScript, and the name that this text imports; null: no name. */
  readonly code: (query: JsonValue, record_type: string) => { readonly name: string | null; readonly text: string }
}

const QUERY_FORM_WRITERS: Readonly<Record<QueryWithForm['name'], QueryFormWriters>> = {
  identifier: {
    criteria: (query) => ({ query_type: 'idtype-value', query }),
    code: (query) => {
      const { type = '', value = '' } = isJsonObject(query) ? query : {}
      return { name: 'identifier', text: `identifier(${typeScriptLiteral(type)}, ${typeScriptLiteral(value)})` }
    },
  },
  expression: {
    criteria: (query, collection) => ({
      query_type: 'expression',
      query: { type: 'ns:org:QueryType:expression', value: { expression: { collection, query } } },
    }),
    code: (query, collection) => ({
      name: 'expression',
      text: `expression(${typeScriptLiteral(query)}, { collection: ${typeScriptLiteral(collection)} })`,
    }),
  },
  predicate: {
    criteria: (query) => ({ query_type: 'predicate', query }),
    code: (query) => ({ name: null, text: `{ query_type: 'predicate', query: ${typeScriptLiteral(query)} }` }),
  },
  graphql: {
    criteria: (query) => ({ query_type: 'graphql', query: { type: 'ns:org:QueryType:graphql', value: { expression: query } } }),
    code: (query) => ({ name: 'graphql', text: `graphql(${typeScriptLiteral(query)})` }),
  },
}

/** Makes the members of search_criteria that hold the query. */
export const searchCriteriaOf = ({ name, query }: QueryWithForm, record_type: string): JsonObject =>
  QUERY_FORM_WRITERS[name].criteria(query, record_type)

/** Shell commands that send the search. The body is a here-document, so the shell interprets nothing in it. */
export const searchAsCurl = (path: string, body: string): string =>
  `TOKEN=$(curl -s "$REGISTRY/${TOKEN_PATH}" \\
  -d grant_type=client_credentials -d "client_id=$CLIENT_ID" -d "client_secret=$CLIENT_SECRET" |
  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

curl -s "$REGISTRY${path}" \\
  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' --data-binary @- <<'END'
${body}
END`

/** The registry and the participant for which a TypeScript program is shown. */
export interface RegistryAndParticipant {
  readonly namespace: string
  readonly registry: { readonly kind: { readonly name: string }; readonly sender_id: string }
  readonly participant: { readonly sender_id: string; readonly signature_profile: SignatureProfile }
}

/** Shows a search as a TypeScript program with `@rollcall/client`, which signs what it sends. */
export function searchAsTypeScript({
  record_type,
  form,
  page_size,
  later,
  ...program
}: RegistryAndParticipant & {
  readonly record_type: string
  readonly form: QueryWithForm
  readonly page_size: number | undefined
  readonly later: boolean
}): string {
  const { name, text } = QUERY_FORM_WRITERS[form.name].code(form.query, record_type)
  const more = [
    `reg_record_type: ${typeScriptLiteral(record_type)}`,
    ...(page_size === undefined ? [] : [`pagination: { page_size: ${page_size}, page_number: 1 }`]),
  ]
  const call = `${later ? 'searchAsync' : 'search'}({ ...${text}, ${more.join(', ')} })`
  return typeScriptProgram(program, call, name === null ? [] : [name])
}

/**
 * The TypeScript program around one call of the client.
 * @param call the method and its arguments
 * @param names what the program imports from the client besides `RegistryClient`
 */
export function typeScriptProgram(
  { namespace, registry, participant }: RegistryAndParticipant,
  call: string,
  names: readonly string[] = [],
): string {
  const { signature_profile: profile } = participant
  const isDefault = JSON.stringify(profile) === JSON.stringify(DEFAULT_SIGNATURE_PROFILE)
  return `import { readFile } from 'node:fs/promises'
import { ${[...names, 'RegistryClient'].join(', ')} } from '@rollcall/client'

// ${KEY_PLACEHOLDER}
const key = JSON.parse(await readFile(process.env.SIGNING_KEY ?? '', 'utf8'))
const registry = new RegistryClient({
  base_url: \`\${process.env.REGISTRY}/${namespace}/v${PROTOCOL_VERSION}\`,
  kind: ${typeScriptLiteral(registry.kind.name)},
  sender_id: ${typeScriptLiteral(participant.sender_id)},
  receiver_id: ${typeScriptLiteral(registry.sender_id)},
  credentials: {
    client_id: process.env.CLIENT_ID ?? '',
    client_secret: process.env.CLIENT_SECRET ?? '',
  },
  signing: { key${isDefault ? '' : `, profile: ${JSON.stringify(profile)}`} },
})

console.dir(await registry.${call}, { depth: null })
`
}

/** A value as a TypeScript literal: JSON, with U+2028 and U+2029 escaped. */
const typeScriptLiteral = (value: JsonValue): string =>
  JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
