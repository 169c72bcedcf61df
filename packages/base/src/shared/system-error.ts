import { getSystemErrorMessage } from 'node:util'

/** The system's reason for a refusal, such as `no such file or directory`. */
export const systemReason = ({ errno, code }: NodeJS.ErrnoException): string =>
  errno === undefined ? String(code) : getSystemErrorMessage(errno)
