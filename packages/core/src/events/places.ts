/** Indexes that find elements of a list by key, and members of an object by name, without reading all of them. */

/** An index of the elements of a list. The names of an element are texts that find it, such as its keys. */
export class ElementPositionsByName<Element> {
  readonly #namesOf: (element: Element) => readonly string[]
  /** The positions for each name, in ascending order. They may be outdated: `first` checks whether the element has the name. */
  readonly #places = new Map<string, number[]>()
  readonly #names: (readonly string[])[] = []

  constructor(elements: readonly Element[], namesOf: (element: Element) => readonly string[]) {
    this.#namesOf = namesOf
    for (const [at, element] of elements.entries()) this.put(at, element)
  }

  /** Indexes the element at a position of the list, in place of the earlier element there. */
  put(at: number, element: Element): void {
    const before = this.#names[at] ?? []
    const names = this.#namesOf(element)
    this.#names[at] = names
    for (const name of names) {
      if (before.includes(name)) continue
      const places = this.#places.get(name) ?? []
      const isBehind = (places.at(-1) ?? -1) < at
      places.push(at)
      if (!isBehind) places.sort((one, other) => one - other)
      this.#places.set(name, places)
    }
  }

  /** The position of the first element that has any of the names; undefined when none has. */
  first(names: readonly string[]): number | undefined {
    const found = names.flatMap((name) => {
      return this.#places.get(name)?.find((at) => this.#names[at]?.includes(name)) ?? []
    })
    return found.length === 0 ? undefined : Math.min(...found)
  }
}

/** The members of an object by name. Any spelling of a member's name finds the member. */
export class ObjectMembersByName<Value> {
  readonly members: Map<string, Value>
  readonly #read: (name: string) => string
  #names: Map<string, Set<string>> | undefined

  /** @param read gives the same text for all spellings of a name */
  constructor(members: Iterable<readonly [string, Value]>, read: (name: string) => string) {
    this.members = new Map(members)
    this.#read = read
  }

  /** The name of this member as the object spells it; the given name when the object has no such member. */
  nameOf(name: string): string {
    if (this.members.has(name)) return name
    this.#names ??= this.#readAll()
    const [first] = this.#names.get(this.#read(name)) ?? []
    return first ?? name
  }

  set(name: string, value: Value): void {
    this.members.set(name, value)
    if (this.#names !== undefined) addMemberName(this.#names, this.#read(name), name)
  }

  delete(name: string): void {
    this.members.delete(name)
    this.#names?.get(this.#read(name))?.delete(name)
  }

  #readAll(): Map<string, Set<string>> {
    const names = new Map<string, Set<string>>()
    for (const name of this.members.keys()) addMemberName(names, this.#read(name), name)
    return names
  }
}

function addMemberName(names: Map<string, Set<string>>, key: string, name: string): void {
  const known = names.get(key)
  if (known === undefined) names.set(key, new Set([name]))
  else known.add(name)
}
