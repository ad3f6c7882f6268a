# Adds two numbers at /baseline11, responds with "ok" at /pipeline, and lists items with their totals at /json/COUNT.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;

my $text = do { local $/; open my $file, '<', '/data/dataset.json' or die "no data set: $!"; <$file> };
my @items = map { [/"id": (\d+), .*"price": (\d+), "quantity": (\d+)/] } $text =~ /\{.*?\}/g;
my $listener = IO::Socket::INET->new(LocalAddr => '0.0.0.0', LocalPort => 8080, Listen => 1024, ReuseAddr => 1, Blocking => 0) or die $!;
$SIG{$_} = sub { exit 0 } for qw(TERM INT);
$SIG{PIPE} = 'IGNORE';

sub totals {
    my ($count, $factor) = @_;
    my @found = map {
        my ($id, $price, $quantity) = @$_;
        sprintf '{"id":%d,"price":%d,"quantity":%d,"total":%d}', $id, $price, $quantity, $price * $quantity * $factor
    } @items[0 .. $count - 1];
    return sprintf '{"items":[%s],"count":%d}', join(',', @found), scalar @found;
}

sub content {
    my ($path, $body) = @_;
    return ('text/plain', $1 + $2 + ($body || 0)) if $path =~ m{^/baseline11\?a=(\d+)&b=(\d+)$};
    return ('text/plain', 'ok') if $path eq '/pipeline';
    return ('application/json', totals($1, $2)) if $path =~ m{^/json/(\d+)\?m=(\d+)$};
    return;
}

sub response {
    my ($type, $text) = content(@_);
    my $status = $type ? '200 OK' : '404 Not Found';
    ($type, $text) = ('text/plain', '') unless $type;
    return "HTTP/1.1 $status\r\nContent-Type: $type\r\nContent-Length: " . length($text) . "\r\n\r\n$text";
}

my $readable = IO::Select->new($listener);
my %pending;
while (my @ready = $readable->can_read) {
    for my $socket (@ready) {
        if ($socket == $listener) {
            my $connection = $listener->accept or next;
            $readable->add($connection);
            $pending{$connection} = '';
            next;
        }
        my $count = sysread $socket, $pending{$socket}, 65536, length $pending{$socket};
        if (!$count) {
            $readable->remove($socket);
            delete $pending{$socket};
            close $socket;
            next;
        }
        my $out = '';
        while ($pending{$socket} =~ /^[A-Z]+ (\S+) HTTP(.*?)\r\n\r\n/s) {
            my ($path, $end) = ($1, $+[0]);
            my $size = $2 =~ /\r\ncontent-length: *(\d+)/i ? $1 : 0;
            last if length $pending{$socket} < $end + $size;
            $out .= response($path, substr $pending{$socket}, $end, $size);
            substr $pending{$socket}, 0, $end + $size, '';
        }
        syswrite $socket, $out if length $out;
    }
}
