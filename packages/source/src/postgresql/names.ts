import { createSqlNames } from '../engine/names.ts'

export const POSTGRESQL_NAME_WRITER = createSqlNames('"')
export const { quoted, tableOf, placeOf } = POSTGRESQL_NAME_WRITER
