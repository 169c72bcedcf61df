/** The steps for the identifier types and primary identifiers of a registry in a configuration file. */

import type { Registry } from '@rollcall/core/model/registry'
import { type IdentifierType, identifierTypeProblem, type Kind, withIdentifiers } from '@rollcall/protocol'
import { readPrimaryIdentifiers } from '@rollcall/records/registries/primary-identifiers'
import { changeIdentifierType, removeIdentifierType } from '@rollcall/records/registries/registry-identifier-types'
import { toAdminRefusal } from '../admin-function.ts'
import { isSameJson } from '../approvals/diff-lines.ts'
import { addIdentifierType, identifierTypeOf } from '../registries/identifier-types.ts'
import { changeRegistry } from '../registries/registries.ts'
import type { IdentifierTypeEntry, RegistryEntry } from './file.ts'
import { registryEntry } from './read.ts'
import { type ConfigStep, type FilePlace, refusalAt } from './steps.ts'

type IdentifierTypeEntries = Readonly<Record<string, IdentifierTypeEntry>>

/**
 * Plans the steps for the identifier types and primary identifiers of one registry of a file.
 * @param literal the built-in kind, without identifier types that an operator added
 * @param registry undefined: the registry is new
 * @returns the steps, and the kind as it will be after them
 * @throws AdminRefusal a type cannot be added, or cannot be primary
 */
export function planIdentifiers(
  literal: Kind,
  { identifier_types, primary_identifiers }: RegistryEntry,
  place: { readonly namespace: string; readonly at: FilePlace },
  registry: Registry | undefined,
): { readonly kind: Kind; readonly steps: readonly ConfigStep[] } {
  const current = registry === undefined ? undefined : registryEntry(registry)
  const wanted = identifier_types ?? current?.identifier_types ?? {}
  const own = readTypes(literal, wanted, place.at)
  const primaries = primary_identifiers ?? current?.primary_identifiers ?? {}
  const read = readPrimaries(own.kind, primaries, place.at)
  const kind = withIdentifiers(own.kind, { identifier_types: read.types, primary_identifiers: read.names })
  const before = readTypes(literal, current?.identifier_types ?? {}, place.at).types
  const [add, remove] = identifierTypeSteps(place, [...own.types, ...read.types], before, wanted)
  const kindBefore = registry?.kind ?? literal
  return { kind, steps: [...add, ...primaryIdentifierSteps(place, kindBefore, read.names), ...remove] }
}

/** Returns the identifier types of a file, and the kind with them. @throws AdminRefusal a type is not valid */
function readTypes(literal: Kind, entries: IdentifierTypeEntries, at: FilePlace) {
  let kind = literal
  const types = Object.entries(entries).map(([name, entry]) => {
    const type = identifierTypeOf({ kind: literal }, name, entry)
    const problem = identifierTypeProblem(kind, type)
    if (problem !== null) throw refusalAt([...at, 'identifier_types', name], problem)
    kind = withIdentifiers(kind, { identifier_types: [type], primary_identifiers: {} })
    return type
  })
  return { kind, types }
}

/** Reads the primary identifiers of a file. @throws AdminRefusal a type cannot be primary */
function readPrimaries(kind: Kind, given: Readonly<Record<string, string>>, at: FilePlace) {
  try {
    return readPrimaryIdentifiers(kind, given)
  } catch (error) {
    const refusal = toAdminRefusal(error)
    throw refusal instanceof Error ? refusalAt(at, refusal.message) : error
  }
}

function identifierTypeSteps(
  { namespace, at }: { readonly namespace: string; readonly at: FilePlace },
  wanted: readonly IdentifierType[],
  current: readonly IdentifierType[],
  entries: IdentifierTypeEntries,
): readonly [add: readonly ConfigStep[], remove: readonly ConfigStep[]] {
  const stepAt = (name: string) => [...at, 'identifier_types', name]
  const add = wanted.flatMap((type): ConfigStep[] => {
    const { name } = type
    const before = current.find((one) => one.name === name)
    if (before !== undefined && isSameJson(before, type)) return []
    const to = entries[name] ?? {}
    return [
      before === undefined
        ? {
            at: stepAt(name),
            change: 'add',
            from: null,
            to,
            act: 'identifier-type add',
            registry: namespace,
            make: (deps) => addIdentifierType(deps, { namespace, name, ...to }),
          }
        : {
            at: stepAt(name),
            change: 'change',
            from: before,
            to,
            act: 'identifier-type set',
            registry: namespace,
            make: ({ db }) => changeIdentifierType(db, namespace, type),
          },
    ]
  })
  const remove = current
    .filter(({ name }) => wanted.every((type) => type.name !== name))
    .map(
      (type): ConfigStep => ({
        at: stepAt(type.name),
        change: 'remove',
        from: type,
        to: null,
        // `planGrants` checks the identifiers that grants name, against the whole file.
        act: 'identifier-type remove',
        registry: namespace,
        make: ({ db }) => removeIdentifierType(db, namespace, type.name),
      }),
    )
  return [add, remove]
}

function primaryIdentifierSteps(
  { namespace, at }: { readonly namespace: string; readonly at: FilePlace },
  before: Kind,
  primaries: Readonly<Record<string, string>>,
): ConfigStep[] {
  const rows = before.record_types.map(({ name, primary_identifier }) => [name, primary_identifier] as const)
  const changed = rows.filter(([name, from]) => primaries[name] !== undefined && primaries[name] !== from)
  if (changed.length === 0) return []
  const to = Object.fromEntries(changed.map(([name, from]) => [name, primaries[name] ?? from]))
  return [
    {
      at: [...at, 'primary_identifiers'],
      change: 'change',
      from: Object.fromEntries(changed),
      to,
      act: 'registry set',
      registry: namespace,
      make: (deps) => changeRegistry(deps, { namespace, primary_identifiers: to }),
    },
  ]
}
