import { getSystemErrorMessage } from 'node:util'

/** The system's text for an error, such as `no such file or directory`; its code or its class when it has no `errno`. */
export function systemReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { errno, code } = error as NodeJS.ErrnoException
  return errno === undefined ? String(code ?? error.name) : getSystemErrorMessage(errno)
}
