import { namesWith } from '../engine/names.ts'

export const NAMES = namesWith('`')
