/** nginx `proxy_pass` as a second yardstick, where it is installed. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Measured, pin, proxyCore } from './processes.ts';

function installed(): string | null {
  for (const path of ['/usr/sbin/nginx', '/usr/bin/nginx', '/usr/local/sbin/nginx']) {
    try {
      execFileSync(path, ['-v'], { stdio: 'ignore' });
      return path;
    } catch {
      // not there: try the next place
    }
  }
  return null;
}

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

const configuration = (folder: string, port: number, upstream: string) => `
daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 8192; }
http {
  access_log off; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  keepalive_requests 1000000000; client_body_buffer_size 64k;
  upstream vendor { server ${new URL(upstream).host}; keepalive 2048; keepalive_requests 1000000000; }
  server {
    listen 127.0.0.1:${port};
    location / { proxy_pass http://vendor; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; }
  }
}`;

export async function startNginx(upstream: string): Promise<Measured | null> {
  const binary = installed();
  if (binary === null) return null;
  const folder = mkdtempSync(join(tmpdir(), 'gateway-nginx-'));
  const port = await freePort();
  writeFileSync(join(folder, 'nginx.conf'), configuration(folder, port, upstream));
  const child = spawn(binary, ['-c', join(folder, 'nginx.conf'), '-p', folder], { stdio: 'ignore' });
  await new Promise((resolve) => setTimeout(resolve, 500));
  if (child.exitCode !== null)
    throw new Error(`nginx did not start: ${readFileSync(join(folder, 'error.log'), 'utf8')}`);
  pin(child.pid!, proxyCore);
  return {
    name: 'nginx',
    pid: child.pid!,
    url: `http://127.0.0.1:${port}`,
    key: '',
    ask: () => Promise.reject(new Error('nginx answers no questions')),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => {
          rmSync(folder, { recursive: true, force: true });
          resolve();
        });
        child.kill('SIGTERM');
      }),
  };
}
