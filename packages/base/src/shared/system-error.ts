import { getSystemErrorMessage } from 'node:util'

/** The system's text for an error, such as `no such file or directory`; the error's code when it has no `errno`. */
export const systemReason = ({ errno, code }: NodeJS.ErrnoException): string =>
  errno === undefined ? String(code) : getSystemErrorMessage(errno)
