import { namesWith } from '../engine/names.ts'

export const { quoted, tableOf, placeOf } = namesWith('"')
