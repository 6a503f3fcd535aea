/** OpenSSH's sshd and vsftpd on loopback, under a user without rights. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmod, chown, mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { selfSigned } from '../core/net/certificate.ts'
import type { Programs } from './debian-packages.ts'

const run = promisify(execFile)
/** `nobody`, when root runs the tests: the servers must not have its rights. */
const other = userInfo().uid === 0 ? { uid: 65_534, gid: 65_534, name: 'nobody' } : undefined
export const serverUser = other?.name ?? userInfo().username

export type TransferServer = {
  readonly port: number
  /** The folder of the files, on this machine. */
  readonly folder: string
  stop(): Promise<void>
}

/** Makes a folder that the servers' user owns. */
export async function ownFolder(path: string, mode = 0o755): Promise<string> {
  await mkdir(path, { recursive: true })
  await chmod(path, mode)
  if (other !== undefined) await chown(path, other.uid, other.gid)
  return path
}

async function ownFile(path: string, text: string): Promise<string> {
  await writeFile(path, text, { mode: 0o600 })
  if (other !== undefined) await chown(path, other.uid, other.gid)
  return path
}

/** @param limits `RLIMIT_FSIZE` in bytes: a disk that is full at that size */
async function start(
  program: string,
  args: readonly string[],
  port: number,
  { env }: Programs,
  fileBytes?: number,
): Promise<ChildProcess> {
  const command =
    fileBytes === undefined
      ? [program, ...args]
      : ['/usr/bin/prlimit', `--fsize=${fileBytes}`, program, ...args]
  const said: string[] = []
  const child = spawn(command[0]!, command.slice(1), {
    env,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(other === undefined ? {} : { uid: other.uid, gid: other.gid }),
  })
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => said.length < 200 && said.push(String(text)))
  }
  for (let tries = 0; tries < 200; tries += 1) {
    if (child.exitCode !== null) break
    if (await answers(port)) return child
    await pause(50)
  }
  child.kill('SIGKILL')
  throw new Error(`${program} does not listen on port ${port}:\n${said.join('')}`)
}

const answers = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

export type SshServer = TransferServer & { readonly fingerprint: string }

/** sshd with its own SFTP server, one host key and the public key of one login. */
export async function startSshd(
  programs: Programs,
  folder: string,
  { port, publicKey, fileBytes }: { port: number; publicKey: string; fileBytes?: number },
): Promise<SshServer> {
  const files = await ownFolder(join(folder, 'incoming'))
  const hostKey = join(folder, 'host_key')
  await run(programs.sshKeygen, ['-q', '-t', 'ed25519', '-N', '', '-f', hostKey], {
    env: programs.env,
  })
  if (other !== undefined) await chown(hostKey, other.uid, other.gid)
  const { stdout } = await run(programs.sshKeygen, ['-lf', `${hostKey}.pub`], { env: programs.env })
  const authorized = await ownFile(join(folder, 'authorized_keys'), `${publicKey}\n`)
  const settings = await ownFile(
    join(folder, 'sshd_config'),
    [
      `Port ${port}`,
      'ListenAddress 127.0.0.1',
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${authorized}`,
      `PidFile ${join(folder, 'sshd.pid')}`,
      'StrictModes no',
      // Without PAM, sshd takes users whose password it cannot read for locked.
      'UsePAM yes',
      'PasswordAuthentication no',
      'Subsystem sftp internal-sftp',
      'ForceCommand internal-sftp',
      '',
    ].join('\n'),
  )
  const child = await start(programs.sshd, ['-D', '-e', '-f', settings], port, programs, fileBytes)
  const fingerprint = /SHA256:\S+/.exec(stdout)?.[0] ?? ''
  return { port, folder: files, fingerprint, stop: () => stop(child) }
}

export type FtpsServer = TransferServer & {
  /** The certificate of the authority that vouches for `localhost`. */
  readonly certificate: string
}

/** vsftpd that requires TLS for logins and files, with anonymous uploads into one folder. */
export async function startVsftpd(
  programs: Programs,
  folder: string,
  port: number,
): Promise<FtpsServer> {
  const root = await ownFolder(join(folder, 'root'), 0o555)
  const files = await ownFolder(join(root, 'incoming'), 0o755)
  const certificate = await certify(folder)
  const empty = await ownFolder(join(folder, 'empty'), 0o555)
  const settings = join(folder, 'vsftpd.conf')
  await writeFile(
    settings,
    [
      'listen=YES',
      'listen_address=127.0.0.1',
      `listen_port=${port}`,
      'background=NO',
      'run_as_launching_user=YES',
      `ftp_username=${serverUser}`,
      `nopriv_user=${serverUser}`,
      'anonymous_enable=YES',
      'no_anon_password=NO',
      'local_enable=NO',
      'write_enable=YES',
      'anon_upload_enable=YES',
      'anon_other_write_enable=YES',
      'anon_world_readable_only=NO',
      'anon_umask=022',
      `anon_root=${root}`,
      `secure_chroot_dir=${empty}`,
      'ssl_enable=YES',
      'allow_anon_ssl=YES',
      'force_anon_logins_ssl=YES',
      'force_anon_data_ssl=YES',
      'ssl_tlsv1=YES',
      'require_ssl_reuse=YES',
      `rsa_cert_file=${join(folder, 'server.crt')}`,
      `rsa_private_key_file=${join(folder, 'server.key')}`,
      'seccomp_sandbox=NO',
      'xferlog_enable=NO',
      'pasv_min_port=40000',
      'pasv_max_port=40999',
      '',
    ].join('\n'),
  )
  // vsftpd refuses settings of another owner than the user that runs it.
  if (other !== undefined) await chown(settings, other.uid, other.gid)
  const child = await start(programs.vsftpd, [settings], port, programs)
  return { port, folder: files, certificate, stop: () => stop(child) }
}

/** A key and a certificate for `localhost`. @returns the certificate */
async function certify(folder: string): Promise<string> {
  const { key, cert } = selfSigned('localhost')
  await ownFile(join(folder, 'server.key'), key)
  await ownFile(join(folder, 'server.crt'), cert)
  return cert
}

/** A copy of a private key that only its user may read, as OpenSSH's programs demand. */
export async function privateFile(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text, { mode: 0o600 })
  return path
}
