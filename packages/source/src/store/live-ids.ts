/**
 * The ids of live records: `=` and the key of the row. The ids of copies are numbers. So after a registry changes from live
 * records to copies, or back, an id that was stored before is never taken for the id of another record.
 */

const LIVE_ID_PREFIX = '='

/** An id that no live record has. Stored pages of answers have it in place of a record that is gone. */
export const NO_LIVE_RECORD_ID = LIVE_ID_PREFIX

/** Makes the id of a live record from the key of its row. */
export const liveId = (key: string): string => `${LIVE_ID_PREFIX}${key}`

/** True when an id has the form of the ids of live records. `NO_LIVE_RECORD_ID` has it too. */
export const isLiveRecordId = (id: string): boolean => id.startsWith(LIVE_ID_PREFIX)

/** The key in a live id; null: it is not the id of a live record. */
export const keyOfLiveId = (id: string): string | null =>
  isLiveRecordId(id) && id !== NO_LIVE_RECORD_ID ? id.slice(LIVE_ID_PREFIX.length) : null

/** The SQL of `liveId`. @param key SQL of a text */
export const liveIdSql = (key: string): string => `'${LIVE_ID_PREFIX}' || ${key}`
