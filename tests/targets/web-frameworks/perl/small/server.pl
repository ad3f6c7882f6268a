# Serves GET /, GET /user/ID and POST /user on port 3000. With an argument, two processes share the listener.
use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;

my $listener = IO::Socket::INET->new(LocalAddr => '0.0.0.0', LocalPort => 3000, Listen => 1024, ReuseAddr => 1, Blocking => 0) or die $!;
$SIG{$_} = sub { exit 0 } for qw(TERM INT);
$SIG{PIPE} = 'IGNORE';
my $child = @ARGV ? fork : undef;

sub response {
    my ($request) = @_;
    my ($status, $body) = $request eq 'GET /' ? ('200 OK', '')
        : $request eq 'POST /user' ? ('201 Created', '')
        : $request =~ m{^GET /user/(\w+)$} ? ('200 OK', $1)
        : ('404 Not Found', '');
    return "HTTP/1.1 $status\r\nContent-Length: " . length($body) . "\r\n\r\n$body";
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
        $out .= response($1) while $pending{$socket} =~ s/^([A-Z]+ \S+) HTTP.*?\r\n\r\n//s;
        syswrite $socket, $out if length $out;
    }
}
