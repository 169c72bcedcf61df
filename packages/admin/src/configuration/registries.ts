/** The steps for the registries of a configuration file. */

import type { Environment } from '@rollcall/core/model/environment'
import type { Registry } from '@rollcall/core/model/registry'
import { type Attribute, type AttributeAddition, additionProblem, extendKind, type Kind, kindNamed } from '@rollcall/protocol'
import { removeAttribute, addAttribute as storeAttribute } from '@rollcall/records/registries/registry-attributes'
import { isSameJson } from '../approvals/diff-lines.ts'
import { addAttribute, indexAttribute, kindWithoutAttribute } from '../registries/attributes.ts'
import { addRegistry, changeRegistry } from '../registries/registries.ts'
import { findSourceFault } from '../registries/source-check.ts'
import type { AttributeEntry, Configuration, RegistryEntry } from './file.ts'
import { planIdentifiers } from './identifiers.ts'
import { registryEntry } from './read.ts'
import { type ConfigStep, type FilePlace, refusalAt } from './steps.ts'

export interface PlannedRegistries {
  readonly steps: readonly ConfigStep[]
  /** The kinds after the file is applied, by namespace. */
  readonly kinds: ReadonlyMap<string, Kind>
  /** The environments by namespace. */
  readonly environments: ReadonlyMap<string, Environment>
}

/**
 * Plans the steps for the registries of a file.
 * @throws AdminRefusal a member cannot be changed, or an identifier type or an attribute cannot be added
 */
export function planRegistries({ registries: wanted = {} }: Configuration, stored: readonly Registry[]): PlannedRegistries {
  const kinds = new Map(stored.map(({ namespace, kind }) => [namespace, kind]))
  const steps = Object.entries(wanted).flatMap(([namespace, entry]) => {
    const at = ['registries', namespace]
    const registry = stored.find((row) => row.namespace === namespace)
    const fixed = registry === undefined ? [] : registrySteps(registry, entry, at)
    const identifiers = planIdentifiers(kindOf(entry), entry, { namespace, at }, registry)
    const current = registry === undefined ? {} : registryEntry(registry).attributes
    const kind = kindWithAttributes(identifiers.kind, entry.attributes ?? current, at)
    kinds.set(namespace, kind)
    return registry === undefined
      ? planNewRegistry(namespace, entry, at, identifiers.steps, kind)
      : planStoredRegistry(registry, entry, at, [...fixed, ...identifiers.steps, ...attributeSteps(registry, entry, at)], kind)
  })
  const environments = new Map([
    ...Object.entries(wanted).map(([namespace, { environment = 'live' }]) => [namespace, environment] as const),
    ...stored.map(({ namespace, environment }) => [namespace, environment] as const),
  ])
  return { steps, kinds, environments }
}

/**
 * Orders the steps of a stored registry. If its source changes: first other additions and changes, then the new source, then
 * removals. The new source may name what is added, and the present source may name what is removed.
 * @throws AdminRefusal the source does not fit the kind after the steps
 */
function planStoredRegistry(
  registry: Registry,
  entry: RegistryEntry,
  at: FilePlace,
  steps: readonly ConfigStep[],
  kind: Kind,
): ConfigStep[] {
  const source = entry.source ?? registry.source
  const fault = steps.length > 0 && source !== null ? findSourceFault(source, kind) : null
  if (fault !== null) throw refusalAt([...at, 'source'], fault.message)
  const isStepForSource = (step: ConfigStep) => isSameJson(step.at, [...at, 'source'])
  // A removal is not last if another step adds the same thing again: the removal must come before that step.
  const isLast = (step: ConfigStep) =>
    step.change === 'remove' && steps.every((other) => other === step || !isSameJson(other.at, step.at))
  const [changes, removals] = steps.some(isStepForSource)
    ? [steps.filter((step) => !isLast(step)), steps.filter(isLast)]
    : [steps, []]
  return [...changes.filter((step) => !isStepForSource(step)), ...changes.filter(isStepForSource), ...removals]
}

function kindOf({ kind }: RegistryEntry): Kind {
  const found = kindNamed(kind)
  if (found === undefined) throw new Error('unreachable: the schema names the kinds')
  return found
}

function planNewRegistry(
  namespace: string,
  entry: RegistryEntry,
  at: FilePlace,
  identifiers: readonly ConfigStep[],
  kind: Kind,
): ConfigStep[] {
  const { attributes = {}, identifier_types: _, primary_identifiers: __, ...given } = entry
  const added: ConfigStep = {
    at,
    change: 'add',
    from: null,
    to: given,
    act: 'registry add',
    registry: namespace,
    // `kind` already has all types and attributes that later steps add: the `source` of the entry may name them.
    make: (deps) => addRegistry({ ...deps, kind }, { namespace, ...given }),
  }
  return [added, ...identifiers, ...attributesInFile(attributes).map((row) => attributeStep(namespace, row, at))]
}

const FIXED_REGISTRY_MEMBERS = ['kind', 'sender_id', 'environment'] as const

function registrySteps(registry: Registry, entry: RegistryEntry, at: FilePlace): ConfigStep[] {
  const current = registryEntry(registry)
  const fixed = FIXED_REGISTRY_MEMBERS.find((name) => entry[name] !== undefined && !isSameJson(entry[name], current[name]))
  if (fixed !== undefined) {
    throw refusalAt([...at, fixed], 'cannot be changed; add a registry at another namespace')
  }
  const { namespace } = registry
  return MUTABLE_REGISTRY_MEMBERS.flatMap((member): ConfigStep[] => {
    const [from, to] = [registry[member], entry[member]]
    if (to === undefined || isSameJson(to, from)) return []
    return [
      {
        at: [...at, member],
        change: 'change',
        from,
        to,
        act: 'registry set',
        registry: namespace,
        make: (deps) => changeRegistry(deps, { namespace, [member]: to }),
      },
    ]
  })
}

const MUTABLE_REGISTRY_MEMBERS = [
  ...(['aliases', 'time_zone', 'majority_age', 'web_origins'] as const),
  ...(['reg_type_aliases', 'qualified_kids', 'source'] as const),
]

interface AttributeInFile {
  readonly record_type: string
  readonly name: string
  readonly entry: AttributeEntry
}

const attributesInFile = (attributes: NonNullable<RegistryEntry['attributes']>): AttributeInFile[] =>
  Object.entries(attributes).flatMap(([record_type, rows]) =>
    Object.entries(rows).map(([name, entry]) => ({ record_type, name, entry })),
  )

/**
 * The steps for attributes. A changed one is removed and added again, so that its column is filled again: in one step, because a
 * source that maps the attribute could not be read in between.
 */
function attributeSteps(registry: Registry, entry: RegistryEntry, at: FilePlace): ConfigStep[] {
  if (entry.attributes === undefined) return []
  const current = attributesInFile(registryEntry(registry).attributes)
  const wanted = attributesInFile(entry.attributes)
  const isIn = (rows: readonly AttributeInFile[], row: AttributeInFile): boolean => rows.some((one) => isSameJson(one, row))
  const { namespace } = registry
  const removed = current.filter((row) => !isIn(wanted, row))
  const added = wanted.filter((row) => !isIn(current, row))
  const changes = added.flatMap((row) => {
    const former = removed.find(({ record_type, name }) => record_type === row.record_type && name === row.name)
    const attribute = former === undefined ? null : replacementOf(registry, row, at)
    return former === undefined || attribute === null ? [] : [{ row, former, attribute }]
  })
  const isChanged = (row: AttributeInFile): boolean => changes.some(({ former, row: to }) => row === former || row === to)
  return [
    ...removed
      .filter((row) => !isChanged(row))
      .map(
        ({ record_type, name, entry: from }): ConfigStep => ({
          at: [...at, 'attributes', record_type, name],
          change: 'remove',
          from,
          to: null,
          act: 'attribute remove',
          registry: namespace,
          // `planGrants` checks the attributes that grants name, against the whole file.
          make: ({ db }) => removeAttribute(db, namespace, record_type, name),
        }),
      ),
    ...changes.map(
      ({ row, former, attribute }): ConfigStep => ({
        ...attributeStep(namespace, row, at),
        change: 'change',
        from: former.entry,
        make: ({ db }) => storeAttribute(db, namespace, row.record_type, attribute, { replaces: true }),
      }),
    ),
    ...added.filter((row) => !isChanged(row)).map((row) => attributeStep(namespace, row, at)),
  ]
}

/** The attribute that takes the place of an added one; null: the kind has it, or something else must be removed before. */
function replacementOf(registry: Registry, row: AttributeInFile, at: FilePlace): Attribute | null {
  const { record_type, name } = row
  const without = kindWithoutAttribute(registry, record_type, name)
  if (without === null) return null
  const attribute = attributeOfEntry(row, [], [...at, 'attributes', record_type, name])
  return additionProblem(without, { record_type, attribute }) === null ? attribute : null
}

function attributeStep(namespace: string, { record_type, name, entry }: AttributeInFile, at: FilePlace): ConfigStep {
  const { type, paths, ...flags } = entry
  return {
    at: [...at, 'attributes', record_type, name],
    change: 'add',
    from: null,
    to: entry,
    act: type === undefined || paths === undefined ? 'attribute index' : 'attribute add',
    registry: namespace,
    make: (deps) =>
      type === undefined || paths === undefined
        ? indexAttribute(deps, { namespace, record_type, name })
        : addAttribute(deps, { namespace, record_type, name, type, paths, ...flags }),
  }
}

/** Adds the attributes of a file to a kind. @throws AdminRefusal an attribute cannot be added to the kind */
function kindWithAttributes(own: Kind, attributes: NonNullable<RegistryEntry['attributes']>, at: FilePlace): Kind {
  const types = own.record_types.map(({ name }) => name)
  const unknown = Object.keys(attributes).find((name) => !types.includes(name))
  if (unknown !== undefined) throw refusalAt([...at, 'attributes', unknown], `must be one of ${types.join(', ')}`)
  return attributesInFile(attributes).reduce((kind, row) => {
    const place = [...at, 'attributes', row.record_type, row.name]
    const recordType = kind.record_types.find(({ name }) => name === row.record_type)
    const attribute = attributeOfEntry(row, recordType?.attributes ?? [], place)
    const addition = { record_type: row.record_type, attribute }
    const problem = additionProblem(kind, addition)
    if (problem !== null) throw refusalAt(place, problem)
    return extendKind(kind, [addition])
  }, own)
}

function attributeOfEntry(
  { name, entry }: AttributeInFile,
  ofKind: readonly Attribute[],
  at: FilePlace,
): AttributeAddition['attribute'] {
  const { type, paths, many, fold, indexed, sortable, ...given } = entry
  const own = ofKind.find((attribute) => attribute.name === name)
  if (own !== undefined) {
    if (!isSameJson(entry, { indexed: true })) {
      throw refusalAt(at, 'the kind has this attribute: it may have indexed: true, and nothing else')
    }
    return { ...own, indexed: true }
  }
  if (type === undefined || paths === undefined) {
    throw refusalAt(at, 'needs type and paths: the kind has no attribute of this name')
  }
  const flags = { ...(many && { many }), ...(fold && { fold }), ...(indexed && { indexed }), ...(sortable && { sortable }) }
  return { name, type, paths, ...given, ...flags }
}
