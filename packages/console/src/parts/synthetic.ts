/** True for a registry of synthetic people: acts that affect people may be tried there. */
import type { Answer } from '../api/client.ts'

export const hasSyntheticPeople = ({
  demo,
  environment,
}: Pick<Answer<'/admin/v1/registries/{namespace}'>, 'demo' | 'environment'>): boolean => demo || environment === 'sandbox'
