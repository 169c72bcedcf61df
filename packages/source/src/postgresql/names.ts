import { createSqlNames } from '../engine/names.ts'

export const { quoted, tableOf, placeOf } = createSqlNames('"')
