/** Finds the places of lists with keyed elements in records of a type, once for each type. */
import { elementKeys, type JsonValue, type KeyedList, type Kind, type RecordType, searchKey } from '@rollcall/protocol'
import { oncePerObject } from '../model/once-per.ts'

/** The paths of the lists whose elements have keys, in records of one type. */
export interface KeyedListPaths {
  /** Each list and its path in the spelling of the record type. The key of the map is the `searchKey` of the path. */
  readonly lists: ReadonlyMap<string, { readonly list: KeyedList; readonly path: string }>
  /** The paths of all objects that enclose a list with keyed elements, each as its `searchKey`. */
  readonly above: ReadonlySet<string>
  /**
   * The paths of the members that identify the person or an element of a list, and of all members that enclose these, each as its
   * `searchKey`. If an element itself is the identifier (a plain value), its path is the path of the list.
   */
  readonly keys: ReadonlySet<string>
}

/** Returns the paths of the keyed lists in records of a type. They are found once for each type. */
export const keyedListPaths = oncePerObject(({ identifiers, keyed_lists }: RecordType): KeyedListPaths => {
  const lists = new Map(keyed_lists.flatMap((list) => list.paths.map((path) => [searchKey(path), { list, path }] as const)))
  const inElements = keyed_lists.flatMap(({ paths, values = [] }) =>
    paths.flatMap((path) => values.map((value) => (value === '' ? path : `${path}.${value}`))),
  )
  const inIdentifiers = identifiers.flatMap(({ path }) => [`${path}.identifier_type`, `${path}.identifier_value`])
  const keys = [...inElements, ...inIdentifiers].map(searchKey)
  return {
    lists,
    above: new Set([...lists.keys()].flatMap(enclosingPathsOf)),
    keys: new Set(keys.flatMap((path) => [path, ...enclosingPathsOf(path)])),
  }
})

function enclosingPathsOf(path: string): string[] {
  const steps = path.split('.')
  return steps.slice(1).map((_, at) => steps.slice(0, at + 1).join('.'))
}

export interface KindAndRecordType {
  readonly kind: Kind
  readonly recordType: RecordType
}

/**
 * Returns a function that gives the key of an element in a list of identifiers; null: the element has no key; undefined: there is
 * no list of identifiers at `place`, the dotted path of the list in the form of `searchKey`.
 */
export const makeIdentifierElementKeyReader = ({ kind, recordType }: KindAndRecordType) => {
  const { lists } = keyedListPaths(recordType)
  return (place: string, element: JsonValue): string | null | undefined => {
    const found = lists.get(place)
    if (found?.list.identifiers === undefined) return undefined
    return elementKeys(kind, recordType, found.list, found.path, element)[0] ?? null
  }
}
