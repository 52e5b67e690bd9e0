throw new Error('the certificate is not there');
