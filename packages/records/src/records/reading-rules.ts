/**
 * The rules by which the value of each column is read from a document. If the stored values of a column were read by other rules
 * than this version's, `column_fill` lists the column, and no query may use the column before its backfill has ended.
 */
import { createHash } from 'node:crypto'
import { IDENTIFIER_ROWS_GROUP_NAME, identifierSortGroupName } from '@rollcall/core/model/registry'
import {
  attributeRules,
  canonicalJson,
  compoundRules,
  identifierRules,
  type JsonObject,
  type Kind,
  type RecordType,
  sortedIdentifiers,
} from '@rollcall/protocol'
import { sql, type Transaction } from 'kysely'
import { columnGroups } from './columns.ts'

/**
 * For each column group, by its name, a digest of the rules by which its values are read; one more entry is for the identifiers.
 */
type RuleDigests = ReadonlyMap<string, string>

const digestsByRecordType = new WeakMap<RecordType, RuleDigests>()

function ruleDigestsOf(kind: Kind, recordType: RecordType): RuleDigests {
  const found = digestsByRecordType.get(recordType) ?? makeRuleDigests(kind, recordType)
  digestsByRecordType.set(recordType, found)
  return found
}

function makeRuleDigests(kind: Kind, recordType: RecordType): RuleDigests {
  const { attributes, compounds = [] } = recordType
  const stored = new Set(columnGroups(recordType).flatMap(({ name, columns }) => (columns.length > 0 ? [name] : [])))
  const rows: [string, JsonObject][] = [
    ...attributes.map((attribute): [string, JsonObject] => [attribute.name, attributeRules(attribute)]),
    ...compounds.map((compound): [string, JsonObject] => [compound.name, compoundRules(compound)]),
  ]
  const own = rows.filter(([name]) => stored.has(name))
  const identifiers = identifierRules(kind, recordType)
  const sorted = sortedIdentifiers(recordType).map(identifierSortGroupName)
  const all = [...own, ...[IDENTIFIER_ROWS_GROUP_NAME, ...sorted].map((name) => [name, identifiers] as const)]
  return new Map(all.map(([name, rules]) => [name, computeRulesDigest(rules)]))
}

const computeRulesDigest = (rules: JsonObject): string =>
  createHash('sha256').update(canonicalJson(rules)).digest('base64url').slice(0, 16)

/** The names of the column groups for which the database has no stored rules, or other rules than this version's. */
export async function findChangedRules(
  transaction: Transaction<unknown>,
  registry: { readonly id: number; readonly kind: Kind },
  recordType: RecordType,
): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string; rules: string }>`select name, rules from column_rules
    where registry = ${registry.id} and record_type = ${recordType.name}`.execute(transaction)
  const stored = new Map(rows.map(({ name, rules }) => [name, rules]))
  return [...ruleDigestsOf(registry.kind, recordType)].flatMap(([name, rules]) => (stored.get(name) === rules ? [] : [name]))
}

/** Stores that this version's rules apply to these column groups: values are read by them, or will be backfilled. */
export async function storeReadingRules(
  transaction: Transaction<unknown>,
  registry: { readonly id: number; readonly kind: Kind },
  recordType: RecordType,
  names: readonly string[],
): Promise<void> {
  const rules = ruleDigestsOf(registry.kind, recordType)
  await sql`insert into column_rules (registry, record_type, name, rules)
    select ${registry.id}, ${recordType.name}, name, rules
    from unnest(${names}::text[], ${names.map((name) => rules.get(name) ?? '')}::text[]) as noted (name, rules)
    on conflict (registry, record_type, name) do update set rules = excluded.rules`.execute(transaction)
}

/**
 * Deletes the stored rules of column groups that this version does not know. It writes records without these columns, so a later
 * version must read their values again. Rules of attributes that an operator added stay: another node may have added an attribute
 * after the registry was read.
 */
export async function deleteUnknownReadingRules(
  transaction: Transaction<unknown>,
  registry: { readonly id: number; readonly kind: Kind },
  recordType: RecordType,
): Promise<void> {
  const known = [...ruleDigestsOf(registry.kind, recordType).keys()]
  await sql`delete from column_rules as stored where registry = ${registry.id} and record_type = ${recordType.name}
    and name <> all(${known}::text[]) and not exists (select 1 from registry_attribute as added
      where added.registry = stored.registry and added.record_type = stored.record_type and added.name = stored.name)`.execute(
    transaction,
  )
}
