/** Registries of made-up people: what would concern somebody elsewhere may be tried out there. */
import type { Answer } from '../api/client.ts'

export const isSynthetic = ({
  demo,
  environment,
}: Pick<Answer<'/admin/v1/registries/{namespace}'>, 'demo' | 'environment'>): boolean =>
  demo || environment === 'sandbox'
