import { createSqlNameWriter } from '../engine/names.ts'

export const POSTGRESQL_NAME_WRITER = createSqlNameWriter('"')
export const { quoted, tableOf, placeOf } = POSTGRESQL_NAME_WRITER
