/** Room in memory for what is made: who finds none waits, in turn. */

export interface Room {
  /** Resolves when there is room for so many bytes, with what gives it back; alone anything has room. */
  enter(bytes: number): Promise<() => void>
}

/** @param most bytes at a time */
export function createRoom(most: number): Room {
  let taken = 0
  const waiting: { readonly bytes: number; readonly begin: () => void }[] = []
  const fits = (bytes: number): boolean => taken === 0 || taken + bytes <= most
  const admit = (): void => {
    for (let [first] = waiting; first !== undefined && fits(first.bytes); [first] = waiting) {
      waiting.shift()
      taken += first.bytes
      first.begin()
    }
  }
  return {
    async enter(bytes) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ bytes, begin: resolve })
      admit()
      await promise
      let inside = true
      return () => {
        if (!inside) return
        inside = false
        taken -= bytes
        admit()
      }
    },
  }
}
