# SPDX-License-Identifier: Apache-2.0
# What happens in the captures of questions_test.py: sh stage.sh DIR, in namespaces of its own for
# mounts and the network. DIR/etc becomes /etc, DIR/bin comes first in PATH. A second argument is the cgroup of a
# container.
set -e
exec </dev/null >/dev/null 2>&1
mount --bind "$1/etc" /etc
for dir in /srv /run /var/log; do
	mount -t tmpfs none $dir
done
PATH=$1/bin:/usr/sbin:/usr/bin:/sbin:/bin
unset LD_PRELOAD
mkdir /srv/www /srv/app
dd if=/dev/zero of=/srv/data.img bs=24M count=1
echo hello >/srv/www/index.html
ifup

# the web server and its clients
nginx >"$1/ready" &
read -r _ <"$1/ready"
curl /index.html
curl /missing.html
curl /status
curl /quit
wait

# the administrator
echo '127.0.0.1 db' >>/etc/hosts
rm /srv/www/index.html
echo old >/srv/www/news.html
(cd /srv/www && rm news.html)
sed -i 's/welcome/go away/' /etc/motd
mv /etc/motd /etc/motd.old
LD_PRELOAD=/srv/extra.so cat /etc/hosts
cat /etc/nothing || :
cat "$1/ready" &
exec 3>"$1/ready" # once cat has it open
kill -0 $!
kill -TERM $!
wait $! || :
sh -c 'sh -c "id -u; :"; :'
sleep 0.2

# a service that does not start, a database and its client
supervisor
db >"$1/ready" &
read -r _ <"$1/ready"
shop
wait $!

# the rest
backup
cp /srv/data.img /srv/copy.img
if [ -n "$2" ]; then
	sh -c 'echo $$ >"$1/cgroup.procs" && exec cp /srv/data.img /srv/upload.img' sh "$2"
fi
app || :
