/**
 * Property tests draw the same values in every run, so that a red run speaks of the change that it tests.
 * `PROPERTY_SEED=random` draws new values, and a number draws those of the run that named it.
 */
import * as fc from 'fast-check'

const named = process.env.PROPERTY_SEED ?? '20261123'

export const PROPERTY_SEED: number = named === 'random' ? Date.now() & 0x7fffffff : Number(named)
if (!Number.isSafeInteger(PROPERTY_SEED)) throw new Error('PROPERTY_SEED is a whole number, or "random"')

fc.configureGlobal({ seed: PROPERTY_SEED })
