/**
 * The ids of live records: a mark, and the key of the row. Ids of copies are numbers. So an id that was stored before a registry
 * changed from one to the other never becomes the id of another record.
 */

const LIVE_MARK = '='

/** An id that no live record has. */
export const NO_LIVE_RECORD = LIVE_MARK

/** The id of the live record with this key. */
export const liveId = (key: string): string => `${LIVE_MARK}${key}`

/** True when an id is that of a live record, or `NO_LIVE_RECORD`. */
export const isLive = (id: string): boolean => id.startsWith(LIVE_MARK)

/** The key in a live id; null: it is not the id of a live record. */
export const keyOfLive = (id: string): string | null =>
  isLive(id) && id !== NO_LIVE_RECORD ? id.slice(LIVE_MARK.length) : null

/** The SQL of `liveId`. @param key SQL of a text */
export const liveIdOf = (key: string): string => `'${LIVE_MARK}' || ${key}`
