/** Programs from Debian packages, unpacked into a folder without installing them. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const packages = [
  'openssh-server',
  'openssh-sftp-server',
  'openssh-client',
  'vsftpd',
  // A library of the servers that machines without servers lack.
  'libwrap0',
]

export type Programs = {
  readonly sshd: string
  readonly sftp: string
  readonly sshKeygen: string
  readonly vsftpd: string
  /** The environment in which they find their libraries. */
  readonly env: NodeJS.ProcessEnv
  /** Their versions, for the report. */
  readonly versions: string
}

/** @throws Error when a package cannot be downloaded: nothing is left out silently. */
export async function unpackPrograms(folder: string): Promise<Programs> {
  const debs = join(folder, 'debs')
  const root = join(folder, 'root')
  await mkdir(debs, { recursive: true })
  await run('apt-get', ['download', ...packages], { cwd: debs, timeout: 120_000 })
  const files = await readdir(debs)
  for (const file of files) await run('dpkg', ['-x', join(debs, file), root])
  await chmod(root, 0o755)
  const { stdout: architecture } = await run('dpkg-architecture', ['-qDEB_HOST_MULTIARCH']).catch(
    () => ({ stdout: 'x86_64-linux-gnu' }),
  )
  const libraries = join(root, 'usr/lib', architecture.trim())
  const programs = {
    sshd: join(root, 'usr/sbin/sshd'),
    sftp: join(root, 'usr/bin/sftp'),
    sshKeygen: join(root, 'usr/bin/ssh-keygen'),
    vsftpd: join(root, 'usr/sbin/vsftpd'),
    env: { PATH: `${join(root, 'usr/bin')}:/usr/bin:/bin`, LD_LIBRARY_PATH: libraries },
    versions: files.map((file) => decodeURIComponent(file.replace(/_[^_]*\.deb$/, ''))).join(', '),
  }
  for (const program of [programs.sshd, programs.sftp, programs.vsftpd]) {
    if (!existsSync(program)) throw new Error(`the packages do not contain ${program}`)
  }
  return programs
}
